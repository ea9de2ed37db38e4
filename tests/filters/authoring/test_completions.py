"""Completions of what is typed: offered as a list, and only of what one may see."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from filters.authoring import lifecycle
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages

SignIn = Callable[[User], Client]


def page_of(client: Client, text: str, **more: object) -> str:
    response = client.get("/filters/complete/", {"text": text, **more})
    assert response.status_code == 200
    return response.content.decode()


def texts(client: Client, text: str, **more: object) -> list[str]:
    escaped = re.findall(r'data-text="([^"]*)"', page_of(client, text, **more))
    return [html.unescape(completion) for completion in escaped]


def test_it_lists_what_could_stand_there_and_what_it_means(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = page_of(client, "with no r")
    assert 'role="listbox"' in page
    assert '<span class="words">reply by …</span>' in page
    assert "that nobody has answered" in page
    assert 'data-start="8" data-end="9" data-text="reply"' in page
    assert texts(client, "replies by Jones", at=4)[0] == "replies"
    assert texts(client, "with no r", at="x") == texts(client, "with no r")


def test_the_first_completion_of_a_word_is_chosen(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    for text in ("repl", "replies", "replies by J"):
        assert page_of(client, text).count('aria-selected="true"') == 1
    for text in ("with no ", "from ", ""):
        assert 'aria-selected="true"' not in page_of(client, text)


def test_a_whole_phrase_goes_on_only_for_who_asks(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    assert texts(client, "replies ") == []
    assert texts(client, "replies ", all="")[:3] == ["by ", "to ", "numbered "]
    assert texts(client, "replies a")[0] == "and "
    assert texts(client, "", all="")[0] == "from "


def test_where_nothing_can_be_said_there_is_no_list(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    for text in ("about spark", "replies bye ", "x" * 70_000, "\x00"):
        assert page_of(client, text).strip() == ""


def test_what_is_typed_is_shown_as_text(mail: Tables, alice: User, as_user: SignIn) -> None:
    evil = Message("x@example.org", sender="eve@example.org", sender_name='<script>"x"</script>')
    append_messages(mail, DjangoClock(), [evil])
    page = page_of(as_user(alice), "from eve")
    assert "eve@example.org" in page
    assert "<script>" not in page_of(as_user(alice), 'from "<scr')


def test_only_people_who_signed_in_are_answered(client: Client, db: None) -> None:
    assert client.get("/filters/complete/", {"text": "r"}).status_code == 302
    assert client.post("/filters/complete/", {"text": "r"}).status_code == 302


def test_names_come_from_mail_that_one_may_see(
    mail: Tables, alice: User, carol: User, as_user: SignIn
) -> None:
    append_messages(
        mail,
        DjangoClock(),
        [
            Message(
                "s@example.org",
                sender="spy@example.org",
                sender_name="Secret Spy",
                newsgroups=("secret.plans",),
                list="secret.example.org",
                audience="user:alice",
            )
        ],
    )
    mine, theirs = as_user(alice), as_user(carol)
    for text, name in [
        ("from spy", '"Secret Spy"'),
        ("in secret", "secret.plans"),
        ("on list sec", "secret.example.org"),
    ]:
        assert texts(mine, text) == [name]
        assert texts(theirs, text) == []
    assert texts(theirs, "from jones") == ['"Mary Jones"']
    assert texts(theirs, "in comp") == ["comp.plans"]


def test_tags_are_those_of_mail_that_one_may_see(
    mail: Tables, alice: User, carol: User, as_user: SignIn
) -> None:
    tags = [
        ("urgent", "plan@example.org", "public"),
        ("urbane", "secret@example.org", "user:alice"),
    ]
    append_annotations(
        mail,
        DjangoClock(),
        [
            Annotation(f"t-{tag}", msgid, "alice", "tag", tag, None, audience)
            for tag, msgid, audience in tags
        ],
    )
    assert sorted(texts(as_user(alice), "tagged ur")) == ["urbane", "urgent"]
    assert texts(as_user(carol), "tagged ur") == ["urgent"]
    assert texts(as_user(carol), "tagged urgent by al") == ["alice"]


def test_filters_are_ones_own_or_shared_by_whom_one_names(
    alice: User, bob: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "about budget", name="secret")
    lifecycle.install(alice, "about plans", name="plans", visibility="shared")
    mine, theirs = as_user(alice), as_user(bob)
    assert texts(mine, "in filter ") == ["plans", "secret"]
    assert texts(mine, "in alice's ") == ["plans", "secret"]
    assert texts(theirs, "in filter ") == []
    assert texts(theirs, "in alice's ") == ["plans"]
    assert texts(theirs, "in Alice's se") == []


def test_the_mail_is_not_read_at_each_key(
    mail: Tables, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = as_user(alice)
    assert texts(client, "in c") == ["comp.plans"]
    monkeypatch.setattr("filters.people.known_names.recent_names", None)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert texts(client, "in co") == ["comp.plans"]
    assert len(asked) <= 6


def test_tables_that_cannot_be_read_leave_the_phrases(
    data: Path, alice: User, as_user: SignIn
) -> None:
    (data / "tables").write_text("no directory")
    assert texts(as_user(alice), "repl")[0] == "replies"


def test_the_page_has_a_place_for_them(alice: User, as_user: SignIn) -> None:
    page = as_user(alice).get("/filters/new/").content.decode()
    assert 'data-complete="/filters/complete/"' in page
    assert re.search(r"site/complete\.[0-9a-f]+\.js", page)
