"""A search that is asked for: while it is being answered, asked again, and later."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.test import Client

from filters.inbox.search import views
from filters.inbox.search.searches import SEARCHES
from filters.inbox.tasks import search
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.filters.inbox.search.conftest import asked_by, compute, page_of

SignIn = Callable[[User], Client]
pytestmark = pytest.mark.usefixtures("parts")


class TestPolling:
    def test_a_page_polls_until_the_worker_has_answered(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        client, task = as_user(alice), str(uuid.uuid4())
        SEARCHES.begin(task, alice.pk, asked_by(alice, "about plan"))
        poll = f"/search/{task}/?q=about+plan"
        page = client.get(f"{poll}&turn=7").content.decode()
        assert f'hx-get="/search/{task}/?q=about+plan&amp;turn=8"' in page
        search.apply(("about plan", alice.pk), task_id=task)
        page = client.get(poll).content.decode()
        assert "<strong>3</strong> messages" in page and task not in page

    def test_a_reload_waits_for_the_search_under_way(self, alice: User) -> None:
        task = str(uuid.uuid4())
        SEARCHES.begin(task, alice.pk, asked_by(alice, "about plan"))
        started = SEARCHES.start(search, alice.pk, asked_by(alice, "about plan"), "x", alice.pk)
        assert started == task

    def test_nobody_else_can_fetch_it(
        self, mail: Tables, alice: User, bob: User, as_user: SignIn
    ) -> None:
        task = compute(alice, "about plan")
        SEARCHES.begin(task, bob.pk, asked_by(alice, "about plan"))
        page = as_user(bob).get(f"/search/{task}/?q=about+plan").content.decode()
        assert "The plan" not in page and "turn=2" in page

    def test_an_older_search_says_that_another_was_begun(
        self, alice: User, as_user: SignIn
    ) -> None:
        first, second = str(uuid.uuid4()), str(uuid.uuid4())
        SEARCHES.begin(first, alice.pk, "a")
        SEARCHES.begin(second, alice.pk, "b")
        page = as_user(alice).get(f"/search/{first}/?q=from+x").content.decode()
        assert "You have started another search since." in page and "hx-get" not in page

    def test_a_search_that_nobody_answers_ends_with_a_sentence(
        self, alice: User, as_user: SignIn
    ) -> None:
        task = str(uuid.uuid4())
        SEARCHES.begin(task, alice.pk, "a")
        page = as_user(alice).get(f"/search/{task}/?q=from+x&turn=60").content.decode()
        assert "This is taking too long" in page and "hx-get" not in page

    def test_an_older_result_is_dropped_for_newer_ones(
        self, mail: Tables, alice: User, redis_url: str
    ) -> None:
        texts = [f"about x{n}" for n in range(10)]
        for text in texts:
            compute(alice, text)
        kept = [SEARCHES.of_question(asked_by(alice, text), alice.pk) for text in texts]
        assert [answer is not None for answer in kept] == [False, False] + [True] * 8


@pytest.mark.usefixtures("asked")
class TestAskedAgain:
    def test_a_search_is_made_anew_and_the_former_results_are_shown_meanwhile(
        self, mail: Tables, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = as_user(alice)
        compute(alice, "about plan")
        append_messages(mail, DjangoClock(), [Message("new@x", subject="another plan")])
        monkeypatch.setattr(views, "FRESH", -1)
        response = client.get("/search/", {"q": "about plan"})
        page, task = response.content.decode(), response.context["task"]
        assert "<strong>3</strong> messages" in page and "Looking again…" in page
        assert '<meta http-equiv="refresh" content="2">' in page, "without JavaScript it reloads"
        poll = f"/search/{task}/?q=about+plan&turn=1&again="
        assert "turn=2" in client.get(poll).content.decode()
        search.apply(("about plan", alice.pk), task_id=task)
        answer = client.get(poll)
        assert answer["HX-Retarget"] == "#list" and "Looking" not in answer.content.decode()
        assert "<strong>4</strong> messages" in answer.content.decode()

    @pytest.mark.parametrize("more", [{"page": "1"}, {"open": "plan@example.org"}])
    def test_results_stay_as_one_turns_their_pages_and_reads(
        self,
        mail: Tables,
        alice: User,
        as_user: SignIn,
        monkeypatch: pytest.MonkeyPatch,
        more: dict[str, str],
    ) -> None:
        compute(alice, "about plan")
        monkeypatch.setattr(views, "FRESH", -1)
        page = page_of(as_user(alice), "about plan", **more)
        assert "<strong>3</strong> messages" in page and "Looking" not in page

    def test_a_later_search_ends_it_in_words(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        first, second = str(uuid.uuid4()), str(uuid.uuid4())
        SEARCHES.begin(first, alice.pk, "a")
        SEARCHES.begin(second, alice.pk, "b")
        page = as_user(alice).get(f"/search/{first}/?q=from+x&again=").content.decode()
        assert "You have started another search since." in page and "hx-get" not in page


@pytest.mark.usefixtures("asked")
class TestRecent:
    def test_recent_searches_are_offered_newest_first_and_cleared(
        self, mail: Tables, alice: User, bob: User, as_user: SignIn
    ) -> None:
        client = as_user(alice)
        for text in ("about plan", "from mary", "about  plan", "about plans"):
            page_of(client, text)
        page_of(client, "about trees", page="2")
        client.get("/search/", {"q": "m.subject HAZ 'x'"})
        response = client.get("/search/")
        assert response.context["recent"] == ["about plans", "about plan", "from mary"]
        assert "Clear recent searches" in response.content.decode()
        offered = client.get("/search/complete/", {"text": "about pl"}).context
        assert [one.text for one in offered["recent"]] == ["about plans", "about plan"]
        assert len(client.get("/search/complete/").context["recent"]) == 3
        assert "about plan" not in as_user(bob).get("/search/").content.decode()
        assert "about plan" not in as_user(alice).get("/search/").content.decode()
        assert client.post("/search/forget/", follow=True).context["recent"] == []

    def test_phrases_are_completed_as_in_a_filter(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        offered = as_user(alice).get("/search/complete/", {"text": "repl", "at": "4"})
        assert "replies by" in [one.text.strip() for one in offered.context["completions"]]
        assert 'aria-selected="true"' not in offered.content.decode(), "Enter searches"
