"""What a reader said or took back is undone: nothing of it is lost, and nobody else can."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.core import signing
from django.test import Client

from filters.people.models import User
from filters.reading.annotations.outbox import append_outbox
from filters.reading.models import OutboxAnnotation
from filters.reading.reading import read
from tapestry.tables.delta.log import Tables

SignIn = Callable[[User], Client]

PLAN = "plan@example.org"
HTMX = {"HX-Request": "true"}
CHANGE = re.compile(r'name="change" value="([^"]+)"')

Said = tuple[str, str | None, float | None, str]


def say(client: Client, **what: str) -> str:
    """Say something as htmx does; return the change that the toast offers to undo."""
    page = client.post("/message/annotate/", {"id": PLAN, **what}, headers=HTMX).content.decode()
    return unescape(CHANGE.findall(page)[0])


def undo(client: Client, change: str) -> int:
    return client.post("/message/annotate/undo/", {"change": change}, headers=HTMX).status_code


def said(user: User) -> list[Said]:
    shown = read(user, PLAN)
    assert shown is not None
    return [(row.kind, row.value, row.number, row.audience) for row in shown.mine]


@pytest.mark.parametrize("appended", [False, True])
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"kind": "vote", "number": "1"}, "You voted for it."),
        ({"kind": "vote", "number": "-1"}, "You voted against it."),
        ({"kind": "tag", "value": "<later>"}, "Tagged “&lt;later&gt;”."),
        ({"kind": "note", "value": "Ask Mary."}, "Note saved."),
        ({"kind": "priority", "number": "7"}, "Priority set to 7."),
    ],
)
def test_what_was_said_and_what_was_taken_back_are_undone(
    mail: Tables, bob: User, as_user: SignIn, what: dict[str, str], words: str, appended: bool
) -> None:
    client = as_user(bob)
    answer = client.post(
        "/message/annotate/", {"id": PLAN, "private": what["kind"], **what}, headers=HTMX
    )
    page = answer.content.decode()
    assert f'hx-swap-oob="innerHTML"><p>{words}</p>' in page and 'id="undo"' in page
    before = said(bob)
    assert before[0][3] == "user:bob"
    if appended:
        append_outbox(mail)
    taken = {"take_back": before[0][1] or ""} if "value" in what else {"number": "0"}
    taken_back = say(client, kind=what["kind"], **taken)
    assert said(bob) == []
    if appended:
        append_outbox(mail)
    assert undo(client, taken_back) == 200 and said(bob) == before
    assert undo(client, taken_back) == 200 and said(bob) == before, "twice is as once"
    again = say(client, kind=what["kind"], **taken)
    assert said(bob) == [] and undo(client, again) == 200 and said(bob) == before
    other = say(client, kind="tag", value="other")
    assert len(said(bob)) == 2 and undo(client, other) == 200 and said(bob) == before


def test_a_vote_that_was_changed_is_as_before(mail: Tables, bob: User, as_user: SignIn) -> None:
    client = as_user(bob)
    first = say(client, kind="vote", number="1", private="vote")
    second = say(client, kind="vote", number="-1")
    assert said(bob) == [("vote", None, -1, "public")]
    assert undo(client, second) == 200 and said(bob) == [("vote", None, 1, "user:bob")]
    third = say(client, kind="vote", number="0")
    say(client, kind="vote", number="-1")
    for old in (first, second, third):
        assert undo(client, old) == 200
        assert said(bob) == [("vote", None, -1, "public")], "what was said since stays"


def test_what_changes_nothing_offers_nothing(mail: Tables, bob: User, as_user: SignIn) -> None:
    client = as_user(bob)
    say(client, kind="tag", value="later")
    again = {"id": PLAN, "kind": "tag", "value": "later"}
    answer = client.post("/message/annotate/", again, headers=HTMX)
    assert 'id="toast"' not in answer.content.decode()


def test_nobody_else_and_nobody_later_undoes_it(
    mail: Tables, bob: User, carol: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = as_user(bob)
    change = say(client, kind="tag", value="later")
    assert undo(as_user(carol), change) == 422
    assert as_user(carol).post("/message/annotate/undo/", {"change": change}).status_code == 404
    assert undo(client, change[:-1]) == undo(client, "") == 422
    now = signing.time.time()
    monkeypatch.setattr(signing.time, "time", lambda: now + 601)
    assert undo(client, change) == 422
    assert [row.kind for row in OutboxAnnotation.objects.all()] == ["tag"]


def test_without_javascript_the_next_page_offers_it(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    client = as_user(bob)
    given = {"id": PLAN, "kind": "tag", "value": "later"}
    page = client.post("/message/annotate/", given, follow=True).content.decode()
    assert "Tagged “later”." in page
    change = unescape(CHANGE.findall(page)[0])
    page = client.post("/message/annotate/undo/", {"change": change}, follow=True).content.decode()
    assert "<p>Undone.</p>" in page and said(bob) == []
    assert "Undone." not in client.get("/message/", {"id": PLAN}).content.decode()
