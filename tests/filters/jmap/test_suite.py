"""What passes of github.com/jmapio/jmap-test-suite is asked here too, as requests of our own.

``suite.txt`` lists its tests by id: what passes, and why the others do not.  Each that passes is
named by a case of ``requests.test``, or is that of another test, which the list names.
``suite.py`` runs the suite itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from filters.authoring.models import Filter
from filters.delivery.models import Address
from filters.jmap.models import JmapAccount
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import parse_instant
from tapestry.ingest.parse import parse
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.filters.jmap import suite_mail
from tests.filters.jmap.conftest import Program
from tests.support.formats.datadriven import Case
from tests.support.formats.datadriven import parse as cases_of
from tests.support.lists.listed_mail import find, installed
from tests.support.paths import FIXTURES

REQUESTS = FIXTURES / "jmap" / "requests.test"

SUITE = FIXTURES / "jmap" / "suite.txt"

AUDIENCE = "user:alice"

_STATE = re.compile(r"\d{10}(\.\d+){0,2}")
_ID = re.compile(r"(?!invalid)[mu]?[\w-]{22}([-_][\d_-]+)?", re.ASCII)
_KEY = re.compile(r"[\w-]{80,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Listed:
    """A test of the suite; ``why`` it does not pass, or which test of ours asks the same."""

    id: str
    status: str
    why: str


def listed() -> list[Listed]:
    """Return what the list says of the tests of the suite."""
    lines = [line for line in SUITE.read_text().splitlines() if line[:1] not in ("", "#")]
    return [Listed(*([*line.split(maxsplit=2), ""])[:3]) for line in lines]


class Site:
    """A program of alice, and the names of what it asks for: ``@plans``, ``@plan.thread``."""

    def __init__(self, call: Program) -> None:
        self.call = call
        self.ids = {f"@{name}": box["id"] for name, box in call.boxes().items()}
        self.ids["@account"] = call.account
        self.ids["@identity"] = call("Identity/get")["list"][0]["id"]
        for row in call("Email/get", properties=["messageId", "threadId"])["list"]:
            name = row["messageId"][0].partition("@")[0]
            self.ids |= {f"@{name}": row["id"], f"@{name}.blob": f"m{row['id']}"}
            if row["threadId"] not in self.ids.values():
                self.ids[f"@{name}.thread"] = row["threadId"]

    def answer(self, case: Case) -> str:
        """Return what the program is answered, with names in place of ids and states."""
        given = re.sub(r'(?<=")@[\w.-]+', lambda found: self.ids[found[0]], case.input)
        answer = getattr(self, f"_{case.command}")(given, case.args)
        names = {key: name for name, key in self.ids.items()}
        return "\n".join(
            f"{word} {json.dumps(_named(row, names), sort_keys=True, ensure_ascii=False)}"
            for word, row in answer
        )

    def _calls(self, given: str, _: dict[str, str]) -> list[tuple[str, Any]]:
        pairs = [line.split(" ", 1) for line in given.splitlines()]
        made = self.call.calls(*((name, json.loads(values)) for name, values in pairs))
        return [(name, answer) for name, answer, _ in made]

    def _post(self, given: str, args: dict[str, str]) -> list[tuple[str, Any]]:
        kind = args.get("type", "application/json")
        response = self.call.client.post(
            "/jmap/api/", given, content_type=kind, headers=self.call.headers
        )
        return [(str(response.status_code), response.json())]

    def _upload(self, given: str, args: dict[str, str]) -> list[tuple[str, Any]]:
        content = given.encode() * int(args.get("times", "1"))
        response = self.call.client.post(
            f"/jmap/upload/{self.call.account}/", content, args["type"], headers=self.call.headers
        )
        self.ids["@upload"] = response.json()["blobId"]
        return [(str(response.status_code), response.json())]

    def _download(self, given: str, args: dict[str, str]) -> list[tuple[str, Any]]:
        blob = json.loads(given)
        query = {"type": args["type"]}
        response = self.call.client.get(
            f"/jmap/download/{self.call.account}/{blob}/x", query, headers=self.call.headers
        )
        return [(f"{response.status_code} {response['Content-Type']}", response.content.decode())]

    def _get(self, given: str, _: dict[str, str]) -> list[tuple[str, Any]]:
        response = self.call.get(given)
        if response["Content-Type"] == "application/json":
            return [(str(response.status_code), response.json())]
        lines = response.content.decode().splitlines()
        fields = dict(line.split(": ", 1) for line in lines if ": " in line and line[:2] != "id")
        fields["data"] = json.loads(fields["data"])
        return [(f"{response.status_code} {response['Content-Type']}", fields)]


def _named(value: Any, names: dict[str, str]) -> Any:
    """Return JSON with names in place of ids and states; new ones are numbered."""
    if isinstance(value, dict):
        return {
            _named(key, names): "differs" if _differs(key, value) else _named(item, names)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    if not isinstance(value, str) or value in names:
        return names.get(value, value) if isinstance(value, str) else value
    if _STATE.fullmatch(value):
        return names.setdefault(value, f"state {_next(names, 'state')}")
    if _KEY.fullmatch(value):
        return "key"
    if found := _ID.fullmatch(value):
        if (whole := value[: -len(found[1] or "")] if found[1] else "") in names:
            return names[whole] + (found[1] or "")
        return names.setdefault(value, f"new {_next(names, 'new')}")
    return value


def _differs(key: str, row: dict[str, Any]) -> bool:
    """Tell whether a value is another each time: instants, and lengths of drafts."""
    return key == "sendAt" or (key == "size" and "threadId" in row)


def _next(names: dict[str, str], word: str) -> int:
    return 1 + sum(name.startswith(f"{word} ") for name in names.values())


@pytest.fixture
def site(program: Callable[..., Program], tables: Tables, alice: User) -> Site:
    """A site with mail of all sorts, in two mailboxes; what is in ``archive`` is in no inbox."""
    Address.objects.create(owner=alice, email=alice.email, confirmed_at=1)
    JmapAccount.objects.create(pk=1000, owner=alice, validity=1_700_000_000)  # an id of its own
    boxes = {"plans": installed(alice, "plans"), "archive": installed(alice, "archive")}
    Filter.objects.filter(name="archive").update(acts="skip", acts_since=0)
    for day, (name, (box, raw)) in enumerate(suite_mail.MAIL.items(), 2):
        received = parse_instant(f"2026-02-{day:02}T10:00:00Z")
        message = parse(raw, "seed", AUDIENCE, internal_date=received).message
        assert message.msgid == f"{name}@x"
        append_messages(tables, DjangoClock(), [message], originals=[Original(raw)])
        find(tables, boxes[box], message.msgid, audience=AUDIENCE)
    return Site(program(alice))


def test_requests_are_answered_as_in_the_fixture(
    site: Site, datadriven: Callable[[Path, Callable[[Case], str]], None]
) -> None:
    datadriven(REQUESTS, site.answer)


def test_each_test_of_the_suite_that_passes_is_one_of_ours() -> None:
    cases, _ = cases_of(REQUESTS.read_text())
    named = [word for case in cases for word, value in case.args.items() if value == ""]
    assert len(named) == len(set(named))
    elsewhere = set()
    for row in listed():
        if row.status == "pass" and row.why:
            file, _, test = row.why.partition("::")
            assert f"\ndef {test}(" in (Path(__file__).parent / file).read_text(), row
            elsewhere.add(row.id)
    passing = {row.id for row in listed() if row.status == "pass"}
    assert passing == set(named) | elsewhere and elsewhere.isdisjoint(named)


def test_the_list_of_what_the_suite_asks_in_vain_only_shrinks() -> None:
    rows = listed()
    refused = [row for row in rows if row.status != "pass"]
    assert len({row.id for row in rows}) == len(rows) == 309
    assert all(row.why for row in refused) and len(refused) <= 48
