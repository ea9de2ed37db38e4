"""What a reader takes back, notes and priorities: on the page, in the table, and in filters."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.delivery.contents.votes import balance, votes_on
from filters.inbox.lists.tallies import with_retracted
from filters.people.models import User
from filters.reading.annotations.outbox import append_outbox
from filters.reading.models import OutboxAnnotation
from filters.reading.reading import read
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import install, left, listed, run

SignIn = Callable[[User], Client]

PLAN = "plan@example.org"
PLAN_NAME = "plan"


def say(client: Client, **what: str) -> str:
    """Post as htmx does; return the part of the page that is drawn again."""
    response = client.post(
        "/message/annotate/", {"id": PLAN, **what}, headers={"HX-Request": "true"}
    )
    assert response.status_code == 200
    return response.content.decode()


def rows_in(tables: Tables) -> list[tuple[str, str]]:
    rows = tables.open("annotations").to_pyarrow_table().to_pylist()
    return sorted((row["owner"], row["kind"]) for row in rows if row["msgid"] == PLAN)


@pytest.mark.parametrize("appended", [False, True])
def test_a_vote_that_is_pressed_again_is_taken_back(
    mail: Tables, bob: User, as_user: SignIn, appended: bool
) -> None:
    client = as_user(bob)
    pressed = say(client, kind="vote", number="1")
    assert 'name="number" value="0" id="vote-for" class="vote for" aria-pressed="true"' in pressed
    if appended:
        append_outbox(mail)
    unpressed = say(client, kind="vote", number="0")
    assert (
        'name="number" value="1" id="vote-for" class="vote for" aria-pressed="false"' in unpressed
    )
    append_outbox(mail)
    shown = read(bob, PLAN)
    assert shown and shown.annotations.voted_for == ("carol",) and shown.my_vote == 0
    say(client, kind="vote", number="0")
    assert rows_in(mail) == [("bob", "retraction"), ("bob", "vote"), ("carol", "vote")]
    say(client, kind="vote", number="1")
    append_outbox(mail)
    shown = read(bob, PLAN)
    assert shown and shown.annotations.voted_for == ("carol", "bob") and shown.my_vote == 1


def test_what_is_taken_back_is_appended_once_even_if_the_mark_was_lost(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    client = as_user(bob)
    say(client, kind="tag", value="later")
    say(client, kind="tag", take_back="later")
    say(client, kind="tag", take_back="later")
    assert append_outbox(mail) == 2
    OutboxAnnotation.objects.update(appended_at=None)
    assert append_outbox(mail) == 0
    OutboxAnnotation.objects.all().delete()
    shown = read(bob, PLAN)
    assert shown and shown.annotations.tags == () and shown.my_tags == ()


def test_only_ones_own_tag_has_a_button_and_can_be_taken_back(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    mine = say(as_user(bob), kind="tag", value="<later>")
    assert 'name="take_back" value="&lt;later&gt;"' in mine
    hers = as_user(alice).get("/message/", {"id": PLAN}).content.decode()
    assert "&lt;later&gt;" in hers and 'name="take_back"' not in hers
    assert "&lt;later&gt;" in say(as_user(alice), kind="tag", take_back="<later>")
    assert [row.kind for row in OutboxAnnotation.objects.all()] == ["tag"]
    assert 'class="tag"' not in say(as_user(bob), kind="tag", take_back="<later>")


@pytest.mark.usefixtures("engine")
def test_filters_let_go_of_what_is_taken_back(mail: Tables, bob: User, as_user: SignIn) -> None:
    install(bob, "tagged later", "live")
    lifecycle.install(bob, "tagged later", name="kept")
    client = as_user(bob)
    say(client, kind="tag", value="later")
    append_outbox(mail)
    run()
    assert listed(bob) == {PLAN_NAME} and not left(bob)
    say(client, kind="tag", take_back="later")
    append_outbox(mail)
    run()
    assert left(bob) == {PLAN_NAME} and listed(bob) == {PLAN_NAME}, "one keeps it, one lets go"
    say(client, kind="tag", value="later")
    append_outbox(mail)
    run()
    assert not left(bob)


def test_a_note_is_written_shown_and_taken_back(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    client = as_user(bob)
    page = say(client, kind="note", value="  Ask <Mary>\r\nfirst.  ")
    assert '<span class="text">Ask &lt;Mary&gt;\nfirst.</span>' in page
    say(client, kind="note", value="Mine alone", private="1")
    shown = as_user(alice).get("/message/", {"id": PLAN}).content.decode()
    assert "Ask &lt;Mary&gt;" in shown and "Mine alone" not in shown
    append_outbox(mail)
    reading = read(bob, PLAN)
    assert reading is not None
    first = reading.annotations.notes[0]
    assert (first.value, first.audience) == ("Ask <Mary>\nfirst.", "public")
    page = say(client, kind="note", take_back=first.annid)
    assert "Ask &lt;Mary&gt;" not in page and "Mine alone" in page


def test_a_priority_is_set_changed_and_taken_back(mail: Tables, bob: User, as_user: SignIn) -> None:
    client = as_user(bob)
    assert '<option value="7" selected>7</option>' in say(client, kind="priority", number="7")
    say(client, kind="priority", number="7")
    assert '<option value="10" selected>10</option>' in say(client, kind="priority", number="10")
    shown = read(bob, PLAN)
    assert shown and shown.annotations.priorities == (("bob", 10),)
    say(client, kind="priority", number="0")
    append_outbox(mail)
    shown = read(bob, PLAN)
    assert shown and shown.annotations.priorities == () and shown.my_priority == 0
    kinds = ["priority", "retraction", "priority", "retraction"]
    assert [row.kind for row in OutboxAnnotation.objects.order_by("pk")] == kinds


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ({"kind": "note", "value": " "}, "Write the note first."),
        ({"kind": "note", "value": "x" * 2001}, "A note has at most 2000 characters"),
        ({"kind": "priority"}, "A priority is a number from 1 to 10."),
        ({"kind": "priority", "number": "11"}, "A priority is a number from 1 to 10."),
        ({"kind": "retraction", "value": "a"}, "Select a valid choice."),
    ],
)
def test_bad_input_is_told_of_and_nothing_typed_is_lost(
    mail: Tables, bob: User, as_user: SignIn, what: dict[str, str], sentence: str
) -> None:
    client = as_user(bob)
    for headers, status in (({"HX-Request": "true"}, 422), ({}, 400)):
        page = client.post("/message/annotate/", {"id": PLAN, **what}, headers=headers)
        assert page.status_code == status and sentence in page.content.decode()
        if what["kind"] == "note":
            assert what["value"] in page.content.decode()
    assert not OutboxAnnotation.objects.exists()


def test_a_stranger_takes_nothing_back(
    mail: Tables, carol: User, client: Client, as_user: SignIn
) -> None:
    hidden = {"id": "secret@example.org", "kind": "tag", "take_back": "x"}
    assert as_user(carol).post("/message/annotate/", hidden).status_code == 404
    assert Client().post("/message/annotate/", hidden).status_code == 302
    assert not OutboxAnnotation.objects.exists()


def test_the_balance_of_a_digest_counts_what_stands(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    client = as_user(bob)
    say(client, kind="vote", number="-1")
    append_outbox(mail)
    assert balance(votes_on([PLAN], ["public"])[PLAN], ["public"]) == 0
    say(client, kind="vote", number="0")
    append_outbox(mail)
    assert balance(votes_on([PLAN], ["public"])[PLAN], ["public"]) == 1


def test_the_votes_of_an_instant_are_those_that_stood() -> None:
    vote = {"annid": "a", "owner": "bob", "audience": "public", "kind": "vote", "value": None}
    retraction = vote | {"annid": "r", "kind": "retraction", "value": "a", "ts": 5}
    of_another = retraction | {"owner": "eve", "ts": 2}
    (row,) = with_retracted([vote | {"ts": 1}, of_another, retraction])
    assert (row["annid"], row["retracted"]) == ("a", 5)
