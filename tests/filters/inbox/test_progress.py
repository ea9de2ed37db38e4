"""What a filter's list says before its first run is over, and while what it found waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.authoring import lifecycle, tasks
from filters.authoring.models import Filter
from filters.authoring.results import previews
from filters.inbox.lists import cards, listing
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore
from filters.site.work import set_aside
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.ports import Match as Found
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import advance_watermark
from tests.support.faults.set_asides import Planted
from tests.support.lists.live_filters import arrive

SignIn = Callable[[User], Client]

LOOKING, NOTHING = "Looking through your mail…", "Nothing has matched yet"


def page_of(client: Client, path: str = "/in/f/") -> str:
    return client.get(path).content.decode()


@pytest.mark.usefixtures("engine")
class TestFirstRun:
    def test_nothing_is_said_to_match_before_all_mail_was_looked_through(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        lifecycle.install(alice, "about nothing", name="f")
        client = as_user(alice)
        seen = client.get("/sidebar/").context["sidebar"].mark
        for path in ("/in/f/", "/"):
            assert LOOKING in page_of(client, path)
            assert NOTHING not in page_of(client, path)
        assert "looking through your mail" in page_of(client, "/filters/")
        rounds.run_round()
        assert LOOKING not in page_of(client) and NOTHING in page_of(client)
        assert "Nothing here yet." in page_of(client, "/")
        assert client.get("/sidebar/", {"seen": seen}).status_code == 200, "open pages learn it"

    def test_what_is_found_and_not_listed_yet_is_not_nothing(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        made = lifecycle.install(alice, "about plan", name="f")
        until = advance_watermark(mail, DjangoClock())
        found = [Found(made.pk, "plan@example.org", "public", 1, 0, ("plan@example.org",))]
        store = DjangoFilterStore()
        assert store.commit(store.due(until), until, found)
        assert LOOKING in page_of(as_user(alice)) and NOTHING not in page_of(as_user(alice))
        refresh_cards(mail)
        assert LOOKING not in page_of(as_user(alice))

    def test_what_cannot_be_listed_is_said_and_nobody_waits_for_it(
        self,
        mail: Tables,
        alice: User,
        as_user: SignIn,
        monkeypatch: pytest.MonkeyPatch,
        set_asides: Planted,
    ) -> None:
        lifecycle.install(alice, "about plan", name="f")

        def fails(*_: Any) -> None:
            raise KeyError("nobody foresaw this")

        set_asides.expect()
        monkeypatch.setattr(cards, "_refresh", fails)
        rounds.run_round()
        page, number = page_of(as_user(alice)), Match.objects.count()
        assert number and f"{number} message{'s' * (number > 1)} that it found cannot be" in page
        assert set_aside.reason_of("match", Match.objects.earliest("pk").pk) in page
        assert LOOKING not in page and NOTHING not in page

    def test_a_first_window_in_parts_is_over_when_it_reaches_the_installation(
        self, mail: Tables, alice: User
    ) -> None:
        made = lifecycle.install(alice, "about plan", name="f")
        store = DjangoFilterStore()
        for until, searching in ((made.begun_at - 1, True), (made.begun_at, False)):
            assert store.commit(store.due(until), until, [])
            made.refresh_from_db()
            assert made.is_searching is searching

    def test_from_now_on_nothing_has_to_be_looked_through(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        lifecycle.install(alice, "about plan", name="f", existing=False)
        assert NOTHING in page_of(as_user(alice))

    def test_the_preview_answers_until_the_run_does(
        self,
        mail: Tables,
        alice: User,
        bob: User,
        as_user: SignIn,
        redis_url: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        client = as_user(alice)
        lifecycle.install(alice, "from mary@example.org", name="f")
        lifecycle.install(bob, "from mary@example.org", name="f")
        preview = "/filter/f/preview/"
        assert "The preview found" not in page_of(client, preview), "without Redis it is silent"
        monkeypatch.setenv("REDIS_URL", redis_url)
        task = "7d9f4a1e-0000-4000-8000-000000000001"
        previews.PREVIEWS.begin(task, alice.pk, task)
        arguments = ("from mary@example.org", alice.pk)
        tasks.preview.apply(arguments, task_id=task)
        assert f'hx-get="{preview}"' in page_of(client)
        found = page_of(client, preview)
        assert "The preview found <strong>3</strong> messages" in found and "between us" in found
        assert "The preview found" not in page_of(as_user(bob), preview)
        rounds.run_round()
        page = page_of(client)
        assert preview not in page and page.count('class="subject"') == 3


@pytest.fixture
def daily(mail: Tables, alice: User, engine: None) -> Filter:
    """A daily filter with existing mail, run once."""
    made = lifecycle.install(alice, "from mary@example.org", name="f", timeliness="daily at 08:00")
    rounds.run_round()
    assert made.matches.filter(shown_at__gt=wall_clock()).count() == 3
    return made


class TestWaiting:
    def test_what_waits_is_counted_and_shown_on_request_once(
        self, daily: Filter, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        client = as_user(alice)
        page = page_of(client)
        assert "3 waiting until 08:00" in page and "Show and send now" in page
        assert '<span class="total">3 waiting</span>' in page
        assert NOTHING not in page and 'class="subject"' not in page
        assert "<strong>3</strong> waiting until 08:00" in page_of(client, "/filters/")
        before = set(daily.matches.values_list("pk", "msgid", "matched_at"))
        assert client.post("/in/f/show/").status_code == 302
        page = page_of(client)
        assert "waiting" not in page and page.count('class="subject"') == 3
        rounds.run_round()
        assert set(daily.matches.values_list("pk", "msgid", "matched_at")) == before
        client.post("/read/", {"filter": "f"})
        client.post("/in/f/show/")
        assert client.get("/").context["sidebar"].unread == 0, "what was shown is not news again"

    def test_what_comes_later_waits_again(
        self, daily: Filter, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        client = as_user(alice)
        client.post("/in/f/show/")
        lifecycle.change(daily, "from mary@example.org or from late@x.org")
        arrive(mail, "late")
        rounds.run_round()
        page = page_of(client)
        assert "1 waiting until 08:00" in page and page.count('class="subject"') == 3

    def test_what_was_found_meanwhile_and_has_no_card_yet_is_shown(
        self, daily: Filter, mail: Tables, alice: User
    ) -> None:
        Match.objects.update(card=None)
        assert listing.show_now(daily) == 3
        refresh_cards(mail)
        assert listing.cards(alice, daily).count() == 3

    def test_other_filters_and_other_people_are_left_alone(
        self, daily: Filter, mail: Tables, alice: User, bob: User, as_user: SignIn
    ) -> None:
        lifecycle.install(alice, "about plan", name="g", timeliness="hourly")
        rounds.run_round()
        Match.objects.filter(filter__name="g").update(shown_at=wall_clock() + HOUR)
        assert as_user(bob).post("/in/f/show/").status_code == 404
        assert as_user(alice).get("/in/f/show/").status_code == 405
        as_user(alice).post("/in/f/show/")
        assert not Match.objects.filter(filter__name="g", shown_at__lte=wall_clock()).exists()

    def test_several_instants_name_the_first(
        self, daily: Filter, alice: User, as_user: SignIn
    ) -> None:
        later = Match.objects.order_by("pk").values("pk")[:1]
        Match.objects.filter(pk__in=later).update(shown_at=wall_clock() + 400 * HOUR)
        assert "3 waiting, the first until 08:00" in page_of(as_user(alice))

    def test_what_is_held_waits_until_one_has_read_what_is_here(
        self, mail: Tables, alice: User, engine: None, as_user: SignIn
    ) -> None:
        made = lifecycle.install(
            alice, "from first@x.org or from second@x.org", name="f", while_unread=True
        )
        client = as_user(alice)
        for name in ("first", "second"):
            arrive(mail, name)
            rounds.run_round()
        page = page_of(client)
        assert "1 waiting until you have read what is here" in page and "Show and send now" in page
        assert "waiting until you have read" in " ".join(page_of(client, "/filters/").split())
        client.post("/read/", {"filter": "f"})
        page = page_of(client)
        assert "waiting" not in page and page.count('class="subject"') == 2
        assert made.matches.filter(read_at=None).count() == 1
