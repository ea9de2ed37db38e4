"""Live filters: who sees what of them, and on which page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group
from django.core.paginator import Paginator
from django.test import Client

from filters.inbox.lists import listing
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.lists.rows import page_rows
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.lists.live_filters import SCORE, arrive, install, left, listed, run

pytestmark = pytest.mark.usefixtures("engine")

SignIn = Callable[[User], Client]


class TestAudiences:
    def test_a_private_answer_is_none_to_those_who_cannot_see_it(
        self, mail: Tables, alice: User, bob: User
    ) -> None:
        for user in (alice, bob):
            install(user, "starting a thread with no reply by mary@example.org")
        run()
        assert "plan" not in listed(alice)
        assert "plan" in listed(bob)

    def test_a_private_vote_moves_nothing_of_others(
        self, mail: Tables, bob: User, carol: User
    ) -> None:
        for user in (bob, carol):
            install(user, SCORE)
        run()
        assert listed(bob) == listed(carol) == {"plan"}
        annotate(bob, "plan@example.org", "public", "vote", number=-1, private=True)
        run()
        assert (listed(bob), listed(carol)) == (set(), {"plan"})

    def test_a_person_who_leaves_or_joins_a_group_sees_its_mail_accordingly(
        self, mail: Tables, bob: User
    ) -> None:
        install(bob, "starting a thread")
        run()
        assert listed(bob) == {"plan", "parc"}
        bob.groups.clear()
        run()
        assert (listed(bob), left(bob)) == ({"plan"}, set())
        Group.objects.get(name="parc").user_set.add(bob)
        run()
        assert (listed(bob), left(bob)) == ({"plan", "parc"}, set())

    def test_a_group_that_is_deleted_is_left_by_all(self, mail: Tables, bob: User) -> None:
        install(bob, "starting a thread")
        run()
        Group.objects.get(name="parc").delete()
        run()
        assert listed(bob) == {"plan"}

    def test_answers_in_a_group_count_from_when_one_is_in_it(
        self, mail: Tables, carol: User, alice: User
    ) -> None:
        append_messages(
            mail,
            DjangoClock(),
            [Message("inner@example.org", inreplyto="reply@example.org", audience="group:parc")],
        )
        install(carol, "replies with no reply")
        run()
        assert listed(carol) == {"reply"}
        carol.groups.set(Group.objects.all())
        run()
        assert (listed(carol), left(carol)) == ({"inner"}, {"reply"})


def answered(tables: Tables, user: User) -> None:
    """What was in the list of a live filter is answered, and so leaves it to the answer."""
    arrive(tables, "why")
    install(user, "with no reply")
    run()
    arrive(tables, "because", "why")
    run()


class TestPages:
    def test_the_list_of_what_left_says_when(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        arrive(tables, "why")
        install(carol, "with no reply")
        run()
        client = as_user(carol)
        assert "no longer match" not in client.get("/in/f/").content.decode()
        assert "Nothing has stopped matching yet." in client.get("/in/f/gone/").content.decode()
        arrive(tables, "because", "why")
        run()
        page = client.get("/in/f/").content.decode()
        assert '<span class="subject">because' in page and '<span class="subject">why' not in page
        assert '<a href="/in/f/gone/">1 message that no longer matches</a>' in page
        page = client.get("/in/f/gone/").content.decode()
        assert '<span class="subject">why' in page and '<span class="subject">because' not in page
        assert "left just now" in page

    def test_it_is_in_no_other_list_any_more(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        answered(tables, carol)
        response = as_user(carol).get("/")
        assert [row.card.subject for row in response.context["rows"]] == ["because"]
        assert response.context["sidebar"].total == response.context["sidebar"].unread == 1
        [entry] = response.context["sidebar"].filters
        assert (entry.total, entry.unread, entry.left) == (1, 1, 1)

    def test_a_message_that_left_says_so_on_its_own_page(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        answered(tables, carol)
        page = as_user(carol).get("/message/", {"id": "why@example.org"}).content.decode()
        assert "left just now" in page

    def test_nobody_else_sees_what_left(
        self, tables: Tables, bob: User, carol: User, as_user: SignIn
    ) -> None:
        install(carol, "with no reply")
        assert as_user(bob).get("/in/f/gone/").status_code == 404

    def test_the_list_of_filters_says_which_are_live(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        answered(tables, carol)
        page = as_user(carol).get("/filters/").content.decode()
        assert ">live</span>" in page
        assert "<strong>1</strong> match now" in page
        assert '<a href="/in/f/gone/"><strong>1</strong> no longer matches</a>' in page

    def test_an_empty_one_says_that_nothing_matches_now(
        self, tables: Tables, carol: User, as_user: SignIn
    ) -> None:
        install(carol, "with no reply")
        run()
        assert "Nothing matches now" in as_user(carol).get("/in/f/").content.decode()

    def test_what_leaves_while_its_page_is_made_is_shown_once_more(
        self, mail: Tables, bob: User
    ) -> None:
        install(bob, "starting a thread")
        run()
        page = Paginator(listing.cards(bob), 50).get_page(1)
        page.object_list = [*page]
        Match.objects.update(retracted_at=wall_clock())
        rows = page_rows(bob, page)
        assert [row.moved_at for row in rows] == [card.ts for card in page.object_list] != []


def test_cards_are_given_once(tables: Tables, carol: User) -> None:
    arrive(tables, "why")
    install(carol, "with no reply")
    run()
    assert refresh_cards(tables) == 0
