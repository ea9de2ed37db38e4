"""The protocol of JMAP: a request, its calls in order, and the answer (RFC 8620, 3).

    bytes ─ read_request ─> calls ─ references to answers before ─> method ─> answers
                │                            └─ MethodError ─> ["error", …]: the others go on
                └─ RequestError: none is made

Sans-I/O: it knows no account.  All that a stranger sends is bounded: bytes, calls, the bytes that
references bring.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

log = logging.getLogger(__name__)

CORE = "urn:ietf:params:jmap:core"
MAIL = "urn:ietf:params:jmap:mail"
SUBMISSION = "urn:ietf:params:jmap:submission"
WEBPUSH = "urn:ietf:params:jmap:webpush-vapid"
EMAILPUSH = "urn:ietf:params:jmap:emailpush"

CAPABILITIES = {CORE, MAIL, SUBMISSION, WEBPUSH, EMAILPUSH}

LIMITS = {
    "maxSizeUpload": 15 * 1024 * 1024,
    "maxConcurrentUpload": 4,
    "maxSizeRequest": 1_000_000,
    "maxConcurrentRequests": 4,
    "maxCallsInRequest": 32,
    "maxObjectsInGet": 500,
    "maxObjectsInSet": 500,
}

MOST_REFERRED = 4_000_000
"""Bytes of JSON that the references of a request bring into its calls, in all."""

DEEPEST = 32
"""Parts of the path of a reference."""

IMPLICIT = "#Email/set"
"""Where an answer has that to the call of Email/set that it implies (RFC 8621, 7.5)."""

_OF_IDS = {"ids", "destroy", "update", "mailboxIds", "emailId", "identityId"}
"""The arguments and properties that name objects: also by the creation ids of calls before."""

Arguments = dict[str, Any]
Call = tuple[str, Arguments, str]
Method = Callable[[Arguments], Arguments]


class RequestError(Exception):
    """A request of which no call is made (3.6.1)."""

    def __init__(self, kind: str, detail: str, **more: str) -> None:
        super().__init__(detail)
        self.problem = {"type": f"urn:ietf:params:jmap:error:{kind}", "status": 400, **more}
        self.problem["detail"] = detail


class MethodError(Exception):
    """A call that is answered with an error (3.6.2)."""

    def __init__(self, kind: str, description: str = "") -> None:
        super().__init__(description)
        self.answer = {"type": kind} | ({"description": description} if description else {})


@dataclass(frozen=True, slots=True)
class Request:
    """The capabilities that a program uses, its calls, and the ids of what it made before.

    ``created_ids`` grow with the calls; they are told to a program that ``tells_ids`` itself.
    """

    using: frozenset[str]
    calls: Sequence[Call]
    created_ids: dict[str, str] = field(default_factory=dict)
    tells_ids: bool = False


def read_request(content: bytes) -> Request:
    """Return the request that some bytes are; RequestError if they are none."""
    if len(content) > LIMITS["maxSizeRequest"]:
        raise RequestError("limit", "The request is too large.", limit="maxSizeRequest")
    try:
        given = json.loads(content, parse_constant=_refuse)
        json.dumps(given, ensure_ascii=False).encode()  # no half of a character (RFC 7493, 2.1)
    except (ValueError, RecursionError) as error:
        raise RequestError("notJSON", "This is not JSON as RFC 7493 has it.") from error
    if not _is_request(given):
        raise RequestError("notRequest", "“using” and “methodCalls” are not as RFC 8620 has them.")
    unknown = sorted(set(given["using"]) - CAPABILITIES)
    if unknown:
        raise RequestError("unknownCapability", f"“{unknown[0][:200]}” is not offered here.")
    if len(given["methodCalls"]) > LIMITS["maxCallsInRequest"]:
        raise RequestError("limit", "The request has too many calls.", limit="maxCallsInRequest")
    calls = [(name, arguments, call) for name, arguments, call in given["methodCalls"]]
    ids = given.get("createdIds")
    return Request(frozenset(given["using"]), calls, dict(ids or {}), ids is not None)


def answers(request: Request, method_of: Callable[[str], Method]) -> list[Call]:
    """Make the calls of a request in order, and return the answers.

    ``method_of`` returns what makes the calls of a name; MethodError if it is unknown.
    """
    made: list[Call] = []
    room = MOST_REFERRED
    for name, given, call in request.calls:
        try:
            arguments, size = _resolved(given, made, room)
            room -= size
            answer = method_of(name)(_with_ids(arguments, request.created_ids))
            implied = answer.pop(IMPLICIT, None)
            made += [(name, answer, call)] + [(IMPLICIT[1:], implied, call)] * bool(implied)
            request.created_ids.update(_created(answer))
        except MethodError as error:
            made.append(("error", error.answer, call))
        except Exception:
            log.exception("A call of JMAP failed: %s", name[:100])
            made.append(("error", {"type": "serverFail"}, call))
    return made


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON.")


def _is_request(given: Any) -> bool:
    if not isinstance(given, dict) or not {"using", "methodCalls"} <= given.keys():
        return False
    using, calls, ids = given["using"], given["methodCalls"], given.get("createdIds") or {}
    return (
        isinstance(using, list)
        and all(isinstance(name, str) for name in using)
        and isinstance(calls, list)
        and all(map(_is_call, calls))
        and isinstance(ids, dict)
        and all(isinstance(value, str) for value in ids.values())
    )


def _is_call(given: Any) -> bool:
    return isinstance(given, list) and list(map(type, given)) == [str, dict, str]


def _resolved(given: Arguments, made: Sequence[Call], room: int) -> tuple[Arguments, int]:
    """Return arguments with what their references name, and the bytes that these bring (3.7)."""
    arguments: Arguments = {}
    size = 0
    for name, value in given.items():
        if not name.startswith("#"):
            arguments[name] = value
            continue
        if name[1:] in given:
            raise MethodError("invalidArguments", f"“{name[1:]}” is given twice.")
        arguments[name[1:]] = referred = _referred(value, made)
        size += len(json.dumps(referred))
        if size > room:
            raise MethodError("invalidResultReference", "The references bring too much.")
    return arguments, size


def _with_ids(given: Any, ids: Mapping[str, str], is_id: bool = False) -> Any:
    """Return arguments with the ids of objects in place of # and their creation ids (5.3)."""
    if not ids:
        return given
    if isinstance(given, dict):
        return {
            _with_ids(key, ids, is_id): _with_ids(value, ids, key in _OF_IDS)
            for key, value in given.items()
        }
    if isinstance(given, list):
        return [_with_ids(value, ids, is_id) for value in given]
    is_reference = is_id and isinstance(given, str) and given.startswith("#")
    return ids.get(given[1:], given) if is_reference else given


def _created(answer: Arguments) -> dict[str, str]:
    made = answer.get("created")
    return {key: row["id"] for key, row in made.items()} if isinstance(made, dict) else {}


def _referred(reference: Any, made: Sequence[Call]) -> Any:
    names = ("resultOf", "name", "path")
    if not isinstance(reference, dict) or set(reference) != set(names):
        raise MethodError("invalidResultReference", "A reference has resultOf, name and path.")
    call, name, path = (reference[part] for part in names)
    answer = next((answer for answer in made if answer[2] == call), None)
    if answer is None or answer[0] != name or not isinstance(path, str):
        raise MethodError("invalidResultReference", "There is no such answer before this call.")
    parts = path.split("/")
    if parts[0] or len(parts) > DEEPEST:
        raise MethodError("invalidResultReference", "The path begins with /, and is short.")
    try:
        return pointed(
            answer[1], [part.replace("~1", "/").replace("~0", "~") for part in parts[1:]]
        )
    except (LookupError, ValueError, TypeError) as error:
        raise MethodError("invalidResultReference", "The path leads nowhere.") from error


def pointed(value: Any, parts: Sequence[str]) -> Any:
    """Return what a JSON pointer leads to, in which * stands for all of a list (RFC 8620, 3.7).

    >>> pointed({"list": [{"ids": ["a"]}, {"ids": ["b", "c"]}]}, ["list", "*", "ids"])
    ['a', 'b', 'c']
    """
    if not parts:
        return value
    first, *rest = parts
    if isinstance(value, dict):
        return pointed(value[first], rest)
    if not isinstance(value, list):
        raise LookupError(first)
    if first != "*":
        return pointed(value[int(first) if first.isdecimal() else -1 - len(value)], rest)
    found: list[Any] = []
    for item in value:
        part = pointed(item, rest)
        found += part if isinstance(part, list) else [part]
    return found
