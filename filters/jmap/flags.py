"""Email/set: keywords, as the pages set them; nothing is made, moved or deleted (RFC 8621, 4.6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from filters.inbox import mailboxes
from filters.jmap.arguments import Set
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import check_count, id_of, records_of
from filters.jmap.protocol import Arguments, MethodError
from filters.jmap.records import FLAGGED, SEEN, account_of, state_of

FLAGS = {SEEN: "read", FLAGGED: "starred"}

FORBIDDEN = {
    "type": "forbidden",
    "description": "Filters fill the mailboxes: nothing is put, moved or deleted here.",
}


class _SetError(Exception):
    """What is asked of one Email is refused."""

    def __init__(self, kind: str, *properties: str, description: str = "") -> None:
        super().__init__(description)
        self.answer = {"type": kind, "properties": list(properties), "description": description}


def email_set(account: JmapAccount, given: Set) -> Arguments:
    """Set the keywords of Emails."""
    updates = given.update or {}
    check_count([*updates, *(given.create or ()), *(given.destroy or ())], "maxObjectsInSet")
    before = _state(account, JmapRecord.EMAIL, given)
    records = records_of(account, JmapRecord.EMAIL, updates)
    changes: dict[tuple[str, bool], list[int]] = defaultdict(list)
    refused: dict[str, Any] = {}
    for text, patch in updates.items():
        try:
            if text not in records:
                raise _SetError("notFound")
            record = records[text]
            for flag, to in _changes(record, patch).items():
                if (flag in record.value.split()) != to and record.card_id is not None:
                    changes[flag, to].append(record.card_id)
        except _SetError as error:
            refused[text] = error.answer
    for (flag, to), cards in changes.items():
        mailboxes.set_flag(account.owner, FLAGS[flag], cards, to=to)
    after = state_of(account_of(account.owner), JmapRecord.EMAIL)
    done = {text: None for text in updates if text not in refused}
    return _answer(account, JmapRecord.EMAIL, given, before, after) | {
        "updated": done or None,
        "notUpdated": refused or None,
    }


def mailbox_set(account: JmapAccount, given: Set) -> Arguments:
    """Refuse to make, change or delete mailboxes."""
    state = _state(account, JmapRecord.MAILBOX, given)
    return _answer(account, JmapRecord.MAILBOX, given, state, state) | {
        "updated": None,
        "notUpdated": _refusals(account, JmapRecord.MAILBOX, given.update or ()),
    }


def _state(account: JmapAccount, kind: str, given: Set) -> str:
    state = state_of(account, kind)
    if given.if_in_state is not None and given.if_in_state != state:
        raise MethodError("stateMismatch")
    return state


def _refusals(account: JmapAccount, kind: str, ids: Iterable[str]) -> dict[str, Any] | None:
    """Return why objects are not changed or deleted, by id; None if none is named."""
    known = records_of(account, kind, ids)
    return {text: FORBIDDEN if text in known else {"type": "notFound"} for text in ids} or None


def _answer(account: JmapAccount, kind: str, given: Set, before: str, after: str) -> Arguments:
    return {
        "accountId": id_of(account),
        "oldState": before,
        "newState": after,
        "created": None,
        "destroyed": None,
        "notCreated": dict.fromkeys(given.create or (), FORBIDDEN) or None,
        "notDestroyed": _refusals(account, kind, given.destroy or ()),
    }


def _changes(record: JmapRecord, patch: dict[str, Any]) -> dict[str, bool]:
    """Return the keywords that a patch (RFC 8620, 5.3) sets, or takes away."""
    changes: dict[str, bool] = {}
    for path, value in patch.items():
        name, _, keyword = path.partition("/")
        if name == "mailboxIds":
            raise _SetError("forbidden", path, description=FORBIDDEN["description"])
        if name != "keywords":
            raise _SetError("invalidProperties", path, description="Keywords alone may be set.")
        if keyword:
            word = keyword.replace("~1", "/").replace("~0", "~").lower()
            changes[word] = _is_set(path, value)
        elif len(patch) > 1 or not isinstance(value, dict):
            raise _SetError("invalidPatch", path)
        else:
            changes = dict.fromkeys(FLAGS, False)
            changes |= {word.lower(): _is_set(path, to) for word, to in value.items()}
    unknown = [word for word, to in changes.items() if to and word not in FLAGS]
    if unknown:
        kept = " and ".join(FLAGS)
        raise _SetError("invalidProperties", "keywords", description=f"Only {kept} are kept.")
    return {word: to for word, to in changes.items() if word in FLAGS}


def _is_set(path: str, value: Any) -> bool:
    if value is not True and value is not None:
        raise _SetError("invalidProperties", path, description="A keyword is true, or null.")
    return value is True
