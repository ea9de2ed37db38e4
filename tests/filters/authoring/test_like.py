"""Filter messages like this: parts of a message that make the text of a filter."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from filters.authoring.likeness import join_parts, parts_of, usual_keys
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]

LIKE = "/filters/like/?id=plan@example.org"


def written(client: Client, keys: str) -> str:
    answer = client.get(f"{LIKE}&ticked=&write=yes{keys}")
    assert answer.status_code == 302, answer.content.decode()
    return parse_qs(urlsplit(answer["Location"]).query)["text"][0]


def test_it_offers_what_the_message_is(mail: Tables, carol: User, as_user: SignIn) -> None:
    page = as_user(carol).get(LIKE).content.decode()
    for part in ("from mary@example.org", "in comp.plans", "to alice@example.org"):
        assert f'<span class="phrase">{part}</span>' in page
    assert "about &quot;The plan&quot;" in page and "in this thread" in page
    assert "Messages that meet all of these" in page
    assert 'value="group-1" checked' in page and page.count(" checked") == 1


def test_the_ticks_make_a_phrase(mail: Tables, carol: User, as_user: SignIn) -> None:
    client = as_user(carol)
    assert written(client, "&part=from&part=about") == 'from mary@example.org and about "The plan"'
    thread = written(client, "&part=from&part=thread")
    assert thread.startswith("m.sender = 'mary@example.org' AND (m.msgid = 'plan@example.org' OR")
    page = client.get("/filters/new/", {"text": thread}).content.decode()
    assert "Understood as" in page and "m.references" in page


def test_htmx_is_shown_the_text_and_nothing_ticked_is_said(
    mail: Tables, carol: User, as_user: SignIn
) -> None:
    client = as_user(carol)
    part = client.get(f"{LIKE}&ticked=&part=from", headers={"hx-request": "true"})
    assert "from mary@example.org" in part.content.decode()
    assert "<main" not in part.content.decode()
    nothing = client.get(f"{LIKE}&ticked=&write=yes")
    assert nothing.status_code == 400 and "Choose at least one." in nothing.content.decode()


def test_a_message_links_to_it(mail: Tables, carol: User, as_user: SignIn) -> None:
    page = as_user(carol).get("/message/?id=plan@example.org").content.decode()
    assert 'href="/filters/like/?id=plan%40example.org&amp;in=public"' in page


@pytest.mark.parametrize("query", ["secret@example.org", "nothing@x", "plan@example.org&in=user:x"])
def test_strangers_find_nothing(mail: Tables, carol: User, as_user: SignIn, query: str) -> None:
    assert as_user(carol).get(f"/filters/like/?id={query}").status_code == 404


def test_who_is_signed_out_is_led_to_sign_in(mail: Tables, client: Client) -> None:
    assert client.get(LIKE).status_code == 302
    assert client.get("/filters/like/?id=nothing@x").status_code == 302


def test_hostile_words_are_quoted_or_left_out(tables: Tables, carol: User, as_user: SignIn) -> None:
    hostile = Message(
        "h@x",
        sender='"><script>@x.org',
        sender_name="or",
        subject='Re: [x] \u202e and or not ("from joe" \') </textarea>' + "w" * 2_000,
        newsgroups=("or", "a,b"),
        list="and",
        references=("it's<b>@x",),
    )
    append_messages(tables, DjangoClock(), [hostile])
    page = as_user(carol).get("/filters/like/?id=h@x").content.decode()
    assert "<script>@" not in page and "<b>" not in page
    parts = parts_of(hostile, Context())
    for part in parts:
        assert read(part.text, Context())
    assert read(join_parts(parts, Context()), Context())
    assert usual_keys(parts) == ["list"]
