"""Previews: what a text would match, computed by a worker and shown to who asked."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
import redis
from django.test import Client

from filters.authoring import tasks
from filters.authoring.results import previews
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.upkeep.forgetting import forget
from tapestry.core.message import Message
from tapestry.plan.engine import TooSlowError
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]


class TestPreview:
    @pytest.fixture(autouse=True)
    def parts(self, engine: None, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REDIS_URL", redis_url)

    def compute(self, user: User, text: str, *mode: str) -> str:
        task_id = str(uuid.uuid4())
        previews.PREVIEWS.begin(task_id, user.pk, task_id)
        tasks.preview.apply((text, user.pk, *mode), task_id=task_id)
        return task_id

    def test_it_shows_how_many_and_the_first(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        task = self.compute(alice, "from mary@example.org")
        page = as_user(alice).get(f"/filters/preview/{task}/").content.decode()
        assert "<strong>3</strong> messages" in page
        assert "The plan" in page

    def test_it_says_that_the_newest_matches_are_shown(
        self, mail: Tables, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(previews, "FIRST", 2)
        task = self.compute(alice, "from mary@example.org")
        page = as_user(alice).get(f"/filters/preview/{task}/").content.decode()
        assert "These are the 2 newest matches." in page and page.count(", matched ") == 2

    def test_it_shows_what_one_may_see(self, mail: Tables, carol: User, as_user: SignIn) -> None:
        task = self.compute(carol, "from mary@example.org")
        page = as_user(carol).get(f"/filters/preview/{task}/").content.decode()
        assert "<strong>1</strong> message<" in page.replace("\n", "")
        assert "between us" not in page and "For parc" not in page

    def test_of_a_live_filter_it_shows_what_matches_now(
        self, mail: Tables, carol: User, as_user: SignIn
    ) -> None:
        def page(*mode: str) -> str:
            task = self.compute(carol, "with no reply", *mode)
            return as_user(carol).get(f"/filters/preview/{task}/").content.decode()

        append_messages(
            mail, DjangoClock(), [Message("last@example.org", inreplyto="reply@example.org")]
        )
        assert "Now it matches <strong>1</strong> message<" in page("live")
        assert "So far it would have matched <strong>2</strong> messages" in page()

    def test_nobody_else_can_fetch_it(
        self, mail: Tables, alice: User, bob: User, as_user: SignIn
    ) -> None:
        task = self.compute(alice, "from mary@example.org")
        page = as_user(bob).get(f"/filters/preview/{task}/").content.decode()
        assert "The plan" not in page and f"/filters/preview/{task}/" not in page

    def test_what_was_forgotten_or_is_a_left_groups_is_shown_no_more(
        self, mail: Tables, alice: User, as_user: SignIn, redis_url: str
    ) -> None:
        task = self.compute(alice, "from mary@example.org")
        with redis.Redis.from_url(redis_url) as server:
            kept = str(server.get(f"tapestry:preview:{alice.pk}:{task}"))
        assert "secret@example.org" in kept and "between us" not in kept
        forget("user:alice")
        page = as_user(alice).get(f"/filters/preview/{task}/").content.decode()
        assert "The plan" in page and "For parc" in page and "between us" not in page
        alice.groups.clear()
        page = as_user(alice).get(f"/filters/preview/{task}/").content.decode()
        assert (
            "Your groups have changed" in page and "For parc" not in page and "<strong>" not in page
        )

    def test_it_is_asked_for_again_until_it_is_there(self, alice: User, as_user: SignIn) -> None:
        client = as_user(alice)
        task = uuid.uuid4()
        previews.PREVIEWS.begin(str(task), alice.pk, str(task))
        assert "turn=8" in client.get(f"/filters/preview/{task}/?turn=7").content.decode()
        for wrong in ("²", "-1", "9" * 5000, ""):
            again = client.get(f"/filters/preview/{task}/", {"turn": wrong})
            assert "turn=2" in again.content.decode()
        last = client.get(f"/filters/preview/{task}/?turn=60").content.decode()
        assert "This is taking too long. Try again in a minute." in last
        assert "hx-get" not in last

    def test_one_that_another_displaced_begins_again_when_that_has_ended(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        page = f"/filters/preview/{uuid.uuid4()}/?turn=2"
        other = str(uuid.uuid4())
        previews.PREVIEWS.begin(other, alice.pk, other)
        assert "turn=3" in as_user(alice).get(page).content.decode()
        tasks.preview.apply(("from mary@example.org", alice.pk), task_id=other)
        assert 'hx-post="/filters/preview/"' in as_user(alice).get(page).content.decode()

    def test_what_goes_wrong_is_said(self, alice: User, as_user: SignIn) -> None:
        task = self.compute(alice, "replies bye")
        page = as_user(alice).get(f"/filters/preview/{task}/").content.decode()
        assert "is not understood here" in page

    def test_only_the_newest_of_a_person_is_computed(self, alice: User, bob: User) -> None:
        first, second, of_bob = (str(uuid.uuid4()) for _ in range(3))
        previews.PREVIEWS.begin(first, alice.pk, first)
        previews.PREVIEWS.begin(of_bob, bob.pk, of_bob)
        with previews.wanted(first, alice.pk) as is_first_wanted:
            assert is_first_wanted()
            previews.PREVIEWS.begin(second, alice.pk, second)
            assert not is_first_wanted()
        tasks.preview.apply(("from mary@example.org", alice.pk), task_id=first)
        assert previews.preview_result(first, alice) is None
        with previews.wanted(of_bob, bob.pk) as is_wanted:
            assert is_wanted()

    def test_it_ends_when_its_page_is_closed(
        self, alice: User, as_user: SignIn, redis_url: str
    ) -> None:
        task = str(uuid.uuid4())
        previews.PREVIEWS.begin(task, alice.pk, task)
        with redis.Redis.from_url(redis_url) as server:
            name = f"tapestry:preview:open:{task}"
            server.expire(name, 1)
            as_user(alice).get(f"/filters/preview/{task}/")  # it asks again: it is open
            assert server.ttl(name) > 1
            server.delete(name)
        with previews.wanted(task, alice.pk) as is_wanted:
            assert not is_wanted()

    def test_one_that_takes_too_long_is_said_to(
        self, mail: Tables, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def too_slow(*args: object, **options: object) -> None:
            raise TooSlowError("It takes more than 20 seconds to run.")

        monkeypatch.setattr("tapestry.run.ask.execute", too_slow)
        task = self.compute(alice, "from mary@example.org")
        page = as_user(alice).get(f"/filters/preview/{task}/").content.decode()
        assert "takes more than 20 seconds over the mail that is here" in page

    def test_an_address_that_is_none_is_not_found(self, alice: User, as_user: SignIn) -> None:
        assert as_user(alice).get("/filters/preview/nonsense/").status_code == 404


def test_without_redis_a_preview_answers_503_with_one_sentence(
    alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    response = client.post("/filters/preview/", {"text": "from x"}, headers={"HX-Request": "true"})
    assert response.status_code == 503
    page = response.content.decode()
    assert "The queue (Redis) cannot be reached." in page
    assert page.startswith('<p class="banner bad" role="alert">')
    assert client.get(f"/filters/preview/{uuid.uuid4()}/").status_code == 503


def test_a_text_that_is_no_filter_is_not_previewed(alice: User, as_user: SignIn) -> None:
    response = as_user(alice).post("/filters/preview/", {"text": "replies bye"})
    assert (response.status_code, response.content) == (200, b"")
