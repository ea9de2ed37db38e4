"""The message page: who may see what, and what they may say of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.people.models import User
from filters.reading.annotations.outbox import append_outbox
from filters.reading.models import OutboxAnnotation
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import annotations_on

SignIn = Callable[[User], Client]

EVERYBODY = ("public", "user:alice", "user:bob", "user:carol", "group:parc")


def show(client: Client, msgid: str) -> str:
    return client.get("/message/", {"id": msgid}).content.decode()


def say(client: Client, msgid: str, **what: str) -> int:
    return client.post("/message/annotate/", {"id": msgid, **what}).status_code


def said(tables: Tables, msgid: str) -> list[tuple[str, str, object, str]]:
    rows = annotations_on(tables, [msgid], EVERYBODY)
    return [
        (a.owner, a.kind, a.number if a.kind == "vote" else a.value, a.audience)
        for a in (row.annotation for row in rows)
    ]


def test_it_shows_headers_and_text(mail: Tables, carol: User, as_user: SignIn) -> None:
    page = show(as_user(carol), "plan@example.org")
    assert "<h1>The plan</h1>" in page
    assert "Mary Jones" in page and "comp.plans" in page


def test_one_may_write_to_its_addresses(mail: Tables, alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = show(client, "plan@example.org")
    link = "/compose/?mailto=mailto:mary%2540example.org"
    assert f'href="{link}"' in page
    assert 'name="to" value="mary@example.org"' in client.get(link).content.decode()


def test_the_text_is_text_and_nothing_in_it_is_run(
    mail: Tables, carol: User, as_user: SignIn
) -> None:
    page = show(as_user(carol), "plan@example.org")
    assert "<b>words</b>" not in page
    assert "<blockquote><p>quoted &lt;b&gt;words&lt;/b&gt;</p></blockquote>" in page


def test_addresses_of_pages_are_links_that_tell_nothing(
    mail: Tables, carol: User, as_user: SignIn
) -> None:
    page = show(as_user(carol), "plan@example.org")
    link = '<a href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer nofollow"'
    assert link in page
    assert "c=2.</a>" not in page


@pytest.mark.parametrize(
    ("who", "msgid", "status"),
    [
        ("alice", "secret@example.org", 200),
        ("bob", "secret@example.org", 404),
        ("carol", "secret@example.org", 404),
        ("alice", "parc@example.org", 200),
        ("bob", "parc@example.org", 200),
        ("carol", "parc@example.org", 404),
        ("carol", "plan@example.org", 200),
        ("carol", "none@example.org", 404),
        ("carol", "", 404),
    ],
)
def test_only_those_it_is_for_see_a_message(
    mail: Tables,
    alice: User,
    bob: User,
    carol: User,
    as_user: SignIn,
    who: str,
    msgid: str,
    status: int,
) -> None:
    client = as_user({"alice": alice, "bob": bob, "carol": carol}[who])
    assert client.get("/message/", {"id": msgid}).status_code == status
    assert say(client, msgid, kind="vote", number="-1") == (302 if status == 200 else 404)
    assert OutboxAnnotation.objects.filter(kind="vote").count() == (1 if status == 200 else 0)


def test_nobody_reads_without_signing_in(mail: Tables, client: Client) -> None:
    response = client.get("/message/", {"id": "plan@example.org"})
    assert response.status_code == 302


def test_the_thread_holds_what_its_reader_may_see(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    hers = show(as_user(alice), "plan@example.org")
    assert "between us" in hers and "3 messages" in hers
    his = show(as_user(bob), "plan@example.org")
    assert "between us" not in his and "2 messages" in his


def test_a_vote_shows_at_once_and_reaches_the_table(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    client = as_user(bob)
    assert say(client, "plan@example.org", kind="vote", number="1") == 302
    stands = client.get("/message/", {"id": "plan@example.org"}).context["reading"]
    assert stands.annotations.voted_for == ("carol", "bob")
    assert stands.my_vote == 1
    assert append_outbox(mail) == 1
    assert said(mail, "plan@example.org")[1:] == [("bob", "vote", 1.0, "public")]
    stands = client.get("/message/", {"id": "plan@example.org"}).context["reading"]
    assert stands.annotations.voted_for == ("carol", "bob")


def test_what_is_said_is_appended_once_even_if_the_mark_was_lost(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    say(as_user(bob), "plan@example.org", kind="tag", value="good")
    assert append_outbox(mail) == 1
    OutboxAnnotation.objects.update(appended_at=None)
    assert append_outbox(mail) == 0
    assert append_outbox(mail) == 0
    assert len(said(mail, "plan@example.org")) == 2


def test_voting_the_same_again_says_nothing_new_but_one_may_change_sides(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    client = as_user(bob)
    for number in ("1", "1", "-1"):
        say(client, "plan@example.org", kind="vote", number=number)
    rows = OutboxAnnotation.objects.order_by("pk")
    assert [(row.kind, row.number) for row in rows] == [
        ("vote", 1),
        ("retraction", None),
        ("vote", -1),
    ]
    stands = client.get("/message/", {"id": "plan@example.org"}).context["reading"]
    assert stands.annotations.voted_for == ("carol",)
    assert stands.annotations.voted_against == ("bob",)


@pytest.mark.parametrize(
    ("msgid", "private", "audience"),
    [
        ("plan@example.org", "", "public"),
        ("plan@example.org", "1", "user:alice"),
        ("secret@example.org", "", "user:alice"),
        ("secret@example.org", "1", "user:alice"),
        ("parc@example.org", "", "group:parc"),
        ("parc@example.org", "1", "user:alice"),
    ],
)
def test_what_is_said_is_never_seen_by_more_people_than_the_message(
    mail: Tables, alice: User, as_user: SignIn, msgid: str, private: str, audience: str
) -> None:
    say(as_user(alice), msgid, kind="tag", value="mine", private=private)
    assert OutboxAnnotation.objects.get().audience == audience


def test_a_private_tag_is_seen_by_its_owner_alone(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    say(as_user(alice), "plan@example.org", kind="tag", value="rubbish", private="1")
    assert "rubbish" in show(as_user(alice), "plan@example.org")
    assert "rubbish" not in show(as_user(bob), "plan@example.org")
    append_outbox(mail)
    assert "rubbish" in show(as_user(alice), "plan@example.org")
    assert "rubbish" not in show(as_user(bob), "plan@example.org")


@pytest.mark.parametrize(
    "what",
    [
        {"kind": "vote"},
        {"kind": "vote", "number": "7"},
        {"kind": "tag"},
        {"kind": "tag", "value": "x" * 101},
        {"kind": "curse", "value": "x"},
        {},
    ],
)
def test_nonsense_is_refused(
    mail: Tables, bob: User, as_user: SignIn, what: dict[str, str]
) -> None:
    assert say(as_user(bob), "plan@example.org", **what) == 400
    assert not OutboxAnnotation.objects.exists()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("   ", "Write the tag first: urgent, for example."),
        ("x" * 101, "A tag has at most 100 characters: write a shorter one."),
    ],
)
def test_a_tag_that_is_none_is_refused_in_a_sentence_beside_it(
    mail: Tables, bob: User, as_user: SignIn, value: str, sentence: str
) -> None:
    client = as_user(bob)
    tag = {"id": "plan@example.org", "kind": "tag", "value": value}
    part = client.post("/message/annotate/", tag, headers={"HX-Request": "true"})
    assert part.status_code == 422 and '{"code": "422", "swap": true}' in show(client, tag["id"])
    page = client.post("/message/annotate/", tag)
    assert page.status_code == 400 and "<h1>The plan</h1>" in page.content.decode()
    for shown in (part.content.decode(), page.content.decode()):
        assert f'<p class="fault" id="refusal" role="alert">{sentence}</p>' in shown
        assert f'required value="{value}" aria-invalid="true" aria-describedby="refusal">' in shown


def test_when_the_queue_is_down_the_vote_is_kept_and_the_page_says_so(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    response = as_user(bob).post(
        "/message/annotate/",
        {"id": "plan@example.org", "kind": "vote", "number": "1"},
        headers={"HX-Request": "true"},
    )
    assert response.status_code == 200
    assert "That is saved." in response.content.decode()
    assert append_outbox(mail) == 1


def test_a_vote_needs_a_form_of_ours(mail: Tables, bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    response = client.post(
        "/message/annotate/", {"id": "plan@example.org", "kind": "vote", "number": "1"}
    )
    assert response.status_code == 403
    assert "gone stale" in response.content.decode()
