"""Two tabs at one time: what one has created, renamed or deleted ends no page of the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.importing.creation import create_all
from filters.authoring.importing.entries import Entry
from filters.authoring.models import Filter
from filters.people.models import User
from tapestry.core.clock import wall_clock

pytestmark = pytest.mark.usefixtures("tables")

SignIn = Callable[[User], Client]

FIELDS = {"text": "by Smith", "mail": "existing", "timeliness": "", "visibility": "private"}


def take(owner: User, name: str) -> None:
    """Take a name, as another tab does."""
    Filter.objects.get_or_create(owner=owner, name=name)


@pytest.fixture
def overtaken(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have another tab take the names of new filters once they are chosen."""

    def has_dependents(name: tuple[str, str]) -> bool:
        take(alice, name[1])
        return False

    monkeypatch.setattr(lifecycle, "has_dependents", has_dependents)


@pytest.mark.usefixtures("overtaken")
class TestCreating:
    def test_of_two_filters_without_a_name_the_second_is_given_another(
        self, alice: User, as_user: SignIn
    ) -> None:
        answer = as_user(alice).post("/filters/new/", {**FIELDS, "name": ""})
        assert answer["Location"] == "/in/from-smith-2/"

    def test_a_name_that_was_taken_is_refused(self, alice: User, as_user: SignIn) -> None:
        answer = as_user(alice).post("/filters/new/", {**FIELDS, "name": "smith"})
        assert answer.status_code == 400 and lifecycle.NAME_TAKEN in answer.content.decode()

    def test_an_import_goes_on(self, alice: User) -> None:
        created, refused = create_all(alice, [Entry(name, "by Smith") for name in ("one", "two")])
        assert ([made.name for made in created], refused) == (["one-2", "two-2"], [])


class TestChanging:
    @pytest.fixture
    def jones(self, alice: User) -> Filter:
        return lifecycle.install(alice, "by Jones", name="jones")

    def meanwhile(self, monkeypatch: pytest.MonkeyPatch, done: Callable[[], object]) -> None:
        """Have another tab do something while the clock is asked."""

        def present() -> int:
            done()
            return wall_clock()

        monkeypatch.setattr(lifecycle, "present", present)

    def test_a_name_that_was_taken_is_refused(
        self, alice: User, jones: Filter, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.meanwhile(monkeypatch, lambda: take(alice, "smith"))
        answer = as_user(alice).post("/filter/jones/edit/", {**FIELDS, "name": "smith"})
        assert answer.status_code == 400 and lifecycle.NAME_TAKEN in answer.content.decode()

    def test_a_filter_that_was_deleted_is_not_changed(
        self, alice: User, jones: Filter, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.meanwhile(monkeypatch, jones.delete)
        answer = as_user(alice).post("/filter/jones/edit/", {**FIELDS, "name": "jones"})
        assert answer.status_code == 400 and "was deleted meanwhile" in answer.content.decode()

    def test_a_filter_that_was_deleted_is_not_resumed(
        self, alice: User, jones: Filter, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.meanwhile(monkeypatch, jones.delete)
        assert as_user(alice).post("/filter/jones/resume/")["Location"] == "/filters/"
        assert not Filter.objects.exists()
