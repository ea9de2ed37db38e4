"""A cast of three against every call: the owner of what there is, a member of her group, and a
stranger to it; and programs whose tokens open nothing, or something else.

The calls are those of the OpenAPI document: a new one is called, too, and needs what it is given
here if it takes a body, or names a thing of its caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from filters.api.api import described
from filters.api.authentication import make_token
from filters.api.models import SCOPES
from filters.authoring.lifecycle import install
from filters.authoring.models import Filter
from filters.authoring.own_aggregates import save
from filters.compose.models import Attachment, OutgoingMessage, Template
from filters.delivery.models import Address, Destination, Feed
from filters.inbox.models import AppraiserRule
from filters.people.models import User
from filters.reading.annotations.changes import Change, signed
from filters.site.work.crypto.opaque_keys import encrypt
from filters.sources.models import Source, Trial
from tapestry.core.clock import DAY, format_instant, wall_clock
from tapestry.tables.delta.log import Tables

SECRET = "secret@example.org"
"""A message for alice alone."""

NOBODY = "127.0.0.1"
"""Where nothing answers."""

TASK = "00000000-0000-0000-0000-000000000007"

Things = dict[str, str]


@pytest.fixture
def things(mail: Tables, engine: None, worker: None, alice: User) -> Things:
    """Keys of what alice has; whatever is hers says so."""
    address = Address.objects.create(owner=alice, email="alices@example.org", confirmed_at=1)
    mine: dict[str, Any] = {"owner": alice}
    kept = {
        "sources": Source.objects.create(
            **mine, kind="imap", host=NOBODY, port=1, user="alices", audience="user:alice"
        ),
        "destinations": Destination.objects.create(
            **mine, kind="digest", name="alices", address=address
        ),
        "feeds": Feed.objects.create(**mine, token="alices"),
        "trials": Trial.objects.create(**mine, subject="alices", asked_at=1, ended_at=1),
        "importance": AppraiserRule.objects.create(**mine, weight=1, text="from alices"),
        "templates": Template.objects.create(**mine, name="alices", text="alices"),
    }
    draft = OutgoingMessage.objects.create(**mine, subject="alices", changed_at=1)
    file = Attachment.objects.create(message=draft, name="alices", size=1, content=b"1")
    save(alice, DEFINITION)
    for name in ("alices", "shown"):
        install(alice, "from mary", name=name, title=name)
    Filter.objects.filter(name="shown").update(visibility="shared")
    keys = {name: encrypt(row.pk) for name, row in kept.items()}
    hook = Destination.objects.create(**mine, kind="webhook", name="alices hook", settings={})
    return keys | {"draft": str(draft.uid), "file": encrypt(file.pk), "hook": encrypt(hook.pk)}


DEFINITION = (
    "CREATE AGGREGATE alices(x NUMBER) RETURNS NUMBER STATE (s NUMBER) INITIALIZE (x) ITERATE (s)"
)


def bodies(alice: User) -> dict[str, Any]:
    """Return what each call is given that takes a body: it names alice's things where it can."""
    text, soon = {"text": "from mary"}, format_instant(wall_clock() + DAY)
    one = {"id": SECRET, "audience": "user:alice"}
    folders, no_host = {"folders": ["INBOX"]}, {"host": NOBODY, "user": "u", "secret": "s"}
    return {
        "POST understand": text,
        "PUT aggregates/{name}": {"text": DEFINITION},
        "POST aggregate-values": {"text": DEFINITION},
        "POST filters": text | {"title": "Other"},
        "PATCH filters/{name}": {"title": "Other", "visibility": "shared", "acts": ["star"]},
        "POST filters/{name}/acts/undo": {},
        "POST imports": {"text": '[[filter]]\ntext = "from bill"\n'},
        "POST creations": {"documents": ['{"title": "b", "text": "from bill"}']},
        "POST previews": text,
        "POST backtests": text,
        "POST searches": text,
        "POST annotations": one | {"kind": "vote", "number": 1},
        "POST annotations/undo": {"change": signed(alice, Change(SECRET, ("v",)))},
        "POST acts": {"action": "star", "messages": [one]},
        "POST read": {"filter": "alices"},
        "POST reminders": one | {"until": soon},
        "POST importance": {"weight": 3, "text": "from bill"},
        "PATCH importance/{key}": {"weight": 2},
        "POST sources": no_host,
        "PATCH sources/{key}": {"secret": "s"},
        "POST sources/{key}/folders": folders,
        "PUT sources/{key}/folders": folders,
        "PUT sources/{key}/acts": {"may_act": True, "syncs_flags": False},
        "POST destinations": {"kind": "webhook", "url": "https://example.org/hook"},
        "PATCH destinations/{key}": {"name": "Other", "filters": ["alices"]},
        "POST feeds": {"filter": "alices"},
        "POST drafts": {"answers": SECRET, "audience": "user:alice"},
        "PATCH drafts/{id}": {"subject": "Other", "remind_at": soon},
        "POST drafts/{id}/send": {},
        "POST templates": text,
        "PUT templates/{key}": text,
        "POST senders": {"address": "other@example.org"},
        "PUT signatures": {"address": "alices@example.org", "text": "Alice"},
        "PUT mail-server": no_host,
        "PUT agreement": {"person": "nobody", "left_out": False},
        "PUT calendar": {"events": "BEGIN:VCALENDAR\nEND:VCALENDAR\n"},
        "POST contacts": {"addresses": ["ann@x.org"]},
        "POST contacts/remove": {"addresses": ["ann@x.org"]},
    }


QUERIES = {
    "GET message": f"id={SECRET}",
    "GET thread": f"id={SECRET}",
    "GET message/original": f"id={SECRET}",
    "POST whys": f"filter=alices&id={SECRET}",
    "DELETE reminders": f"id={SECRET}",
}

OWNERS = {
    "GET message/original": 404,
    "GET arrived/{token}": 404,
    "DELETE acts/{step}": 404,
    **dict.fromkeys(
        (f"GET {kind}/{{task}}" for kind in ("imports", "creations", "previews", "backtests")), 404
    ),
    **dict.fromkeys((f"GET {kind}/{{task}}" for kind in ("searches", "whys")), 404),
    "POST shared/{owner}/{name}/follow": 404,
    "POST drafts/{id}/send": 422,
    "POST drafts/{id}/again": 409,
    "POST destinations/{key}/sample": 422,
}
"""What alice is answered where it is no success: it is not there, or cannot be done now."""

OTHERS = {
    **dict.fromkeys(("POST shared/{owner}/{name}/follow",), 201),
    "PUT aggregates/{name}": 204,
    "GET lists/{name}": 200,
    "PUT signatures": 422,
}
"""What others are answered of calls that name something which is not of alice alone."""

NAMING = {
    *(
        "GET message",
        "GET thread",
        "GET message/original",
        "POST whys",
        "DELETE reminders",
        "POST reminders",
    ),
    *("POST annotations", "POST annotations/undo", "POST acts", "POST read", "POST feeds"),
    "POST drafts",
}
"""Calls that name a thing of alice's in what they are given, not in their path: for others it is
not there.
"""


def operations() -> Iterator[tuple[str, str, str]]:
    """Yield each call, such as ``GET filters/{name}``, its method, and the scope that it needs."""
    for path, calls in described()["paths"].items():
        for method, call in calls.items():
            yield f"{method.upper()} {path[8:]}", method, call["security"][0]["PersonalToken"][0]


class Asker:
    """Makes calls with a token, each as if no other had been made."""

    def __init__(self, secret: str, things: Things, given: dict[str, Any]) -> None:
        self._client, self._things, self._given = Client(), things, given
        self._headers = {"Authorization": f"Bearer {secret}"} if secret else {}

    def __call__(self, label: str, method: str) -> tuple[int, str]:
        body = self._given.get(label)
        address = f"/api/v1/{self._path(label)}?{QUERIES.get(label, '')}"
        before = transaction.savepoint()
        response = self._client.generic(
            method.upper(),
            address,
            "" if body is None else json.dumps(body),
            content_type="application/json",
            headers=self._headers,
        )
        transaction.savepoint_rollback(before)
        return response.status_code, response.content.decode()

    def _path(self, label: str) -> str:
        path = label.partition(" ")[2]
        key = "hook" if path.endswith("/secret") else path.partition("/")[0]
        names = {"task": TASK, "step": TASK, "token": TASK, "owner": "alice"}
        names["id"] = self._things["draft"]
        names["key"] = self._things["file"] if "/files/" in path else self._things.get(key, "")
        names["name"] = {"shared": "shown", "lists": "inbox"}.get(key, "alices")
        return re.sub(r"{(\w+)}", lambda found: names[found[1]], path)


@pytest.fixture
def asker(things: Things, alice: User) -> Callable[..., Asker]:
    """Return a function that gives a program a token of a person, of all scopes unless named."""
    given = bodies(alice)

    def of(owner: User | None, *scopes: str) -> Asker:
        secret = make_token(owner, "of the tests", scopes or SCOPES, 7)[1] if owner else ""
        return Asker(secret, things, given)

    return of


def test_every_call_wants_its_scope(asker: Callable[..., Asker], alice: User) -> None:
    nobody = asker(None)
    others = {scope: asker(alice, *(SCOPES.keys() - {scope})) for scope in SCOPES}
    for label, method, scope in operations():
        assert nobody(label, method)[0] == 401, label
        assert others[scope](label, method)[0] == 403, label


def test_every_call_is_answered_to_the_owner(asker: Callable[..., Asker], alice: User) -> None:
    call = asker(alice)
    wrong = {}
    for label, method, _ in operations():
        status, content = call(label, method)
        expected = (OWNERS[label],) if label in OWNERS else (200, 201, 202, 204)
        if status not in expected:
            wrong[label] = (status, content)
    assert wrong == {}


def test_others_get_nothing_of_hers(asker: Callable[..., Asker], bob: User, carol: User) -> None:
    wrong = {}
    for who in (bob, carol):
        call = asker(who)
        for label, method, _ in operations():
            status, content = call(label, method)
            names = "{" in label or label in NAMING
            expected = OTHERS.get(label, 404 if names else status)
            if status != expected or status >= 500 or "alices" in content:
                wrong[who.username, label] = (status, content)
    assert wrong == {}
