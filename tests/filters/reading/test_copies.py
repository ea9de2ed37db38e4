"""A message that is there for several audiences: none of its copies stands in for another."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.inbox.lists.cards import CopyKey, _read_cards
from filters.inbox.models import Card, Mute
from filters.people import people
from filters.people.models import User
from filters.reading.annotations.outbox import append_outbox
from filters.reading.models import OutboxAnnotation
from filters.reading.state import reading_state
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.sources.models import Source
from tapestry.core.message import Message
from tapestry.core.schema import THREADS
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import annotations_on
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]

EVERYBODY = ("public", "user:alice")


@pytest.fixture
def forged(db: None, tables: Tables) -> None:
    """Somebody publishes what bears the Message-ID of a letter to alice, before that is here."""
    for subject, audience in [("A forged salary", "public"), ("My salary", "user:alice")]:
        letter = Message("m@x", subject=subject, body=subject, audience=audience)
        append_messages(tables, DjangoClock(), [letter], originals=[Original(subject.encode(), ())])


def test_the_narrowest_is_shown_and_the_others_named(
    forged: None, alice: User, carol: User, as_user: SignIn
) -> None:
    page = as_user(alice).get("/message/", {"id": "m@x"}).content.decode()
    assert "<h1>My salary</h1>" in page and "forged" not in page
    (other,) = re.findall(r'href="([^"]*)">the one for everybody here', page)
    page = as_user(alice).get(other.replace("&amp;", "&")).content.decode()
    assert "<h1>A forged salary</h1>" in page
    page = as_user(carol).get("/message/", {"id": "m@x"}).content.decode()
    assert "<h1>A forged salary</h1>" in page
    assert "My salary" not in page and "Another bears" not in page


@pytest.mark.parametrize("address", ["/message/original/", "/message/original/file/"])
def test_an_original_is_that_of_its_copy(
    forged: None, alice: User, carol: User, as_user: SignIn, address: str
) -> None:
    def shown(who: User, **which: str) -> bytes:
        return as_user(who).get(address, {"id": "m@x", **which}).content

    assert b"My salary" in shown(alice) and b"My salary" in shown(alice, **{"in": "user:alice"})
    assert b"A forged salary" in shown(alice, **{"in": "public"})
    assert b"A forged salary" in shown(carol)


def test_a_list_opens_the_copy_that_it_shows_and_what_one_says_stays_with_it(
    forged: None, engine: None, tables: Tables, alice: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "about My", name="mine")
    lifecycle.install(alice, "about forged", name="theirs")
    rounds.run_round()
    client = as_user(alice)
    for name, subject, audience in [
        ("mine", "My salary", "user:alice"),
        ("theirs", "A forged salary", "public"),
    ]:
        rows = client.get(f"/in/{name}/").content.decode()
        opened, beside = (
            re.search(rf'{attribute}="([^"]*)"', rows[rows.index('id="row-') :])[1]
            for attribute in ("href", "hx-get")
        )
        for address in (opened, beside):
            page = client.get(address.replace("&amp;", "&")).content.decode()
            assert f"<h1>{subject}</h1>" in page
        said = dict(re.findall(r'<input type="hidden" name="(id|audience)" value="([^"]*)">', page))
        assert said == {"id": "m@x", "audience": audience}
        client.post("/message/annotate/", {**said, "kind": "tag", "value": name})
    append_outbox(tables)
    found = annotations_on(tables, ["m@x"], EVERYBODY)
    assert {(row.annotation.value, row.annotation.audience) for row in found} == {
        ("mine", "user:alice"),
        ("theirs", "public"),
    }


NOT_CAROLS = ("user:alice", "group:parc", "user:nobody", "nonsense")


@pytest.mark.parametrize("audience", NOT_CAROLS)
@pytest.mark.parametrize("what", [{"kind": "tag", "value": "x"}, {"kind": "vote", "number": "1"}])
def test_nobody_says_a_thing_of_a_copy_that_is_not_theirs_to_see(
    forged: None, carol: User, as_user: SignIn, audience: str, what: dict[str, str]
) -> None:
    """Nor of the copy that is: they meant another."""
    said = {"id": "m@x", "audience": audience, **what}
    response = as_user(carol).post("/message/annotate/", said)
    assert response.status_code == 404
    assert "you may not see what is here" in response.content.decode()
    assert not OutboxAnnotation.objects.exists()
    assert (
        as_user(carol).post("/message/annotate/", said | {"audience": "public"}).status_code < 400
    )
    assert OutboxAnnotation.objects.get().audience == "public"


def test_a_stranger_says_nothing(forged: None, client: Client) -> None:
    said = {"id": "m@x", "audience": "public", "kind": "tag", "value": "x"}
    response = client.post("/message/annotate/", said)
    assert response.status_code == 302 and response["Location"].startswith("/sign-in/")
    assert not OutboxAnnotation.objects.exists()


@pytest.mark.parametrize("audience", NOT_CAROLS)
@pytest.mark.parametrize(
    "address",
    [
        "/message/?id=m@x&in=",
        "/message/original/?id=m@x&in=",
        "/message/original/file/?id=m@x&in=",
        "/?open=m@x&in=",
    ],
)
def test_no_other_copy_is_shown_for_one_that_is_not_theirs_to_see(
    forged: None, carol: User, as_user: SignIn, address: str, audience: str
) -> None:
    response = as_user(carol).get(address + audience)
    assert response.status_code == 404 and b"salary" not in response.content
    assert b"A forged salary" in as_user(carol).get(address + "public").content


def test_no_source_puts_mail_where_its_owner_may_not(carol: User, as_user: SignIn) -> None:
    given = {"kind": "nntp", "host": "news.example.org", "security": "tls", "every": "60"}
    page = as_user(carol).post("/sources/new/", {**given, "audience": "user:alice"})
    assert page.status_code == 400 and "user:alice is not one of" in page.content.decode()
    assert not Source.objects.exists()


def test_a_thread_is_muted_by_the_copies_that_one_may_see(db: None, bob: User) -> None:
    times = {"ts": 1, "received": 1}
    Card.objects.create(msgid="m@x", audience="user:alice", root="r@x", **times)
    Mute.objects.create(owner=bob, root="r@x")
    seen = people.audiences(bob)
    assert not reading_state(bob, "m@x", seen, is_listed=True).is_muted
    Card.objects.create(msgid="m@x", audience="user:bob", root="r@x", **times)
    assert reading_state(bob, "m@x", seen, is_listed=True).is_muted


def test_the_parent_of_a_copy_is_its_own(db: None, tables: Tables) -> None:
    copies = [CopyKey("m@x", "user:alice"), CopyKey("m@x", "user:carol")]
    for copy, parent in zip(copies, ("a@x", "c@x"), strict=True):
        letter = Message("m@x", inreplyto=parent, audience=copy.audience)
        append_messages(tables, DjangoClock(), [letter])
    facts = tables.data_files(THREADS)
    assert _read_cards(tables, copies, facts)[1] == dict(zip(copies, ("a@x", "c@x"), strict=True))
