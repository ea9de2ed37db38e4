"""Searches for what one has read, starred, snoozed or done."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring.lifecycle import install
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.models import Match, MessageState
from filters.inbox.search import views
from filters.inbox.search.reading import read_search
from filters.inbox.search.searches import SEARCHES, question
from filters.inbox.search.states import without_states
from filters.inbox.tasks import search
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages


@pytest.fixture(autouse=True)
def found_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a page show what was found for it, however busy the machine is."""
    monkeypatch.setattr(views, "FRESH", DAY)


@pytest.mark.parametrize(
    ("text", "rest", "states"),
    [
        ("is:unread from:bob", "from:bob", "unread"),
        ("from:bob AND is:unread AND after:2024-03-10", "from:bob and after:2024-03-10", "unread"),
        ("in:inbox -is:starred", "", "inbox, not starred"),
        ("isread:false", "", "unread"),
        ("~U ~f mary", "~f mary", "unread"),
        ("tag:unread and tag:git", "tag:git", "unread"),
        ("unread", "", "unread"),
        ("Unread emails from John", "emails from John", "unread"),
        ("starred and unread mail", "", "starred, unread"),
        ("messages with no replies that are unread", "messages with no replies", "unread"),
        ("mail from mary that I haven't read", "mail from mary", "unread"),
        ("messages I starred", "", "starred"),
        ("plan in my inbox", "plan", "inbox"),
        ("(is:unread is:starred)", "", "unread, starred"),
        ("unread, from mary", "from mary", "unread"),
        ("from mary and not read", "from mary", "not read"),
        ("from mary and starred by me", "from mary", "starred"),
        ("in my inbox", "", "inbox"),
        ("from mary, not read yet", "from mary", "not read"),
        ("unread AND (from:joe OR from:bob)", "(from:joe OR from:bob)", "unread"),
        ("(from:joe OR from:bob) unread", "(from:joe OR from:bob)", "unread"),
        ("neither read nor starred", "", "unread, not starred"),
        ("tag:work -tag:done", "tag:work -tag:done", ""),
        ("maildir:/inbox from:mary", "from:mary", "inbox"),
        ("lunch and done", "lunch and done", ""),
        ("a starred review", "a starred review", ""),
        ("lunch", "lunch", ""),
    ],
)
def test_states_are_taken_out_of_a_text(text: str, rest: str, states: str) -> None:
    stated = without_states(text)
    assert (stated.text.lower(), ", ".join(map(str, stated.states))) == (rest.lower(), states)


@pytest.mark.parametrize("text", ["is:unread OR from:bob", "(is:unread OR is:starred)"])
def test_a_state_is_no_alternative(text: str) -> None:
    with pytest.raises(TapestryError, match="cannot be one of several"):
        without_states(text)


@pytest.fixture
def found(
    tables: Tables,
    engine: None,
    redis_url: str,
    alice: User,
    as_user: Callable[[User], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], str]:
    monkeypatch.setenv("REDIS_URL", redis_url)
    names = ("new", "old", "star", "rest", "done")
    mail = [Message(f"{name}@x", sender="joe@x.org", subject=f"plan {name}") for name in names]
    append_messages(tables, DjangoClock(), [*mail, Message("b@x", subject="unread plan")])
    filter_ = install(alice, "from joe")
    now = wall_clock()
    Match.objects.bulk_create(
        Match(
            filter=filter_,
            msgid=f"{name}@x",
            audience="public",
            matched_at=now,
            stored_at=now,
            shown_at=now,
            read_at=None if name == "new" else now,
        )
        for name in names
    )
    refresh_cards(tables)
    for name, state in {
        "star": {"starred_at": now},
        "rest": {"snoozed_until": now + DAY},
        "done": {"done_at": now},
    }.items():
        MessageState.objects.create(
            owner=alice, msgid=f"{name}@x", audience="public", changed_at=now, **state
        )

    def find(text: str) -> str:
        task_id = str(uuid.uuid4())
        asked = read_search(text, alice).asked
        SEARCHES.begin(task_id, alice.pk, question(asked, None))
        search.apply((asked, alice.pk, None), task_id=task_id)
        answer = SEARCHES.of_task(task_id, alice.pk)
        assert answer is not None and "error" not in answer, answer
        page = as_user(alice).get("/search/", {"q": text})
        assert page.status_code == 200
        return " ".join(sorted(msgid.partition("@")[0] for msgid in answer["msgids"]))

    return find


def test_a_search_asks_of_ones_own_state(found: Callable[[str], str]) -> None:
    assert found("is:unread") == "new"
    assert found("is:starred plan") == "star"
    assert found("-is:starred from joe") == "done new old rest"
    assert found("is:read -is:done about plan") == "old rest star"
    assert found("in:inbox") == "new old star"
    assert found("is:snoozed") == "rest"


def test_a_state_may_be_one_of_several(found: Callable[[str], str]) -> None:
    assert found("is:unread OR is:starred") == "new star"
    assert found("starred or about rest") == "rest star"
    assert found("unread from joe or starred from joe or from nobody") == "new star"
    assert found("plan and starred or in my inbox") == "new old star"


def test_words_that_name_a_state_are_still_found_in_subjects(found: Callable[[str], str]) -> None:
    assert found("unread plan") == "b"
    assert found("unread mail from joe") == "new"


def test_a_sign_that_parts_what_the_worker_is_asked_is_a_blank(alice: User) -> None:
    assert read_search("from\x1ejoe\x1e", alice).asked == read_search("from joe ", alice).asked


def test_such_a_search_is_not_kept(
    found: Callable[[str], str], alice: User, as_user: Callable[[User], Client]
) -> None:
    found("unread mail from joe")
    page = as_user(alice).get("/search/", {"q": "unread mail from joe"}).content.decode()
    assert "unread, and from joe" in page
    assert "cannot be kept as a filter" in page and "Keep as filter" not in page
    assert read_search("is:unread -is:starred", alice).shown == "unread, and not starred"
    assert read_search("is:unread OR from:bob", alice).shown == "unread, or from bob"
    refused = as_user(alice).get("/search/", {"q": "(is:unread OR from:bob)"})
    assert refused.status_code == 400 and "cannot be one of several" in refused.content.decode()
