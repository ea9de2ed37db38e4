"""What a change concerns is compiled before anybody has to wait for it, and is still exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from filters.authoring import lifecycle
from filters.authoring.compilation import ahead, dependents
from filters.authoring.compilation.ahead import Outcome
from filters.authoring.models import Filter, PendingWindow
from filters.people import emails
from filters.people.forms import ProfileForm
from filters.people.models import User
from filters.runs.models import Clock, SetAside
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.faults.set_asides import Planted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("tables")]


class Compiler:
    """The compiler, which notes whether it is called in a transaction, where others wait.

    Something else may happen while it works on the filter of Carol's.
    """

    def __init__(self) -> None:
        self.understand = ahead.understand
        self.called: list[bool] = []
        self.meanwhile: list[Callable[[], object]] = []

    def __call__(self, text: str, context: Any) -> Any:
        self.called.append(connection.in_atomic_block)
        understood = self.understand(text, context)
        if self.meanwhile and context.owner == "carol":
            self.meanwhile.pop()()
        return understood


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    noting = Compiler()
    monkeypatch.setattr(ahead, "understand", noting)
    return noting


@pytest.fixture
def sport(bob: User) -> Filter:
    text = "about cricket or to me or since 1 March 2026"
    return lifecycle.install(bob, text, name="sport", visibility="shared")


@pytest.fixture
def mine(sport: Filter, carol: User) -> Filter:
    return lifecycle.install(carol, "in bob's sport", name="mine")


def tell(person: User, **fields: str) -> None:
    """Store the form of a person with other fields."""
    known = User.objects.get(pk=person.pk)
    form = ProfileForm({**ProfileForm.initial_of(known), **fields})
    assert form.is_valid(), form.errors
    form.store(known)


def make_anew(sport: Filter) -> None:
    lifecycle.delete(sport)
    lifecycle.install(sport.owner, "about golf", name="sport", visibility="shared")


CHANGES: dict[str, tuple[Callable[[Filter], object], str]] = {
    "text": (lambda sport: lifecycle.change(sport, "about golf"), "golf"),
    "unshared": (lambda sport: lifecycle.change(sport, sport.text, visibility="private"), ""),
    "renamed": (lambda sport: lifecycle.change(sport, sport.text, name="games"), ""),
    "deleted": (lifecycle.delete, ""),
    "made anew": (make_anew, "golf"),
    "alias": (lambda sport: tell(sport.owner, aliases="new@example.org"), "new@example.org"),
    "address": (lambda sport: emails.change(sport.owner, "new@example.org"), "new@example.org"),
    "time zone": (lambda sport: tell(sport.owner, time_zone="Asia/Tokyo"), "15:00:00"),
}


@pytest.mark.parametrize("how", CHANGES)
def test_nothing_is_compiled_while_others_wait(
    sport: Filter, mine: Filter, compiler: Compiler, how: str
) -> None:
    change, meaning = CHANGES[how]
    change(sport)
    mine.refresh_from_db()
    assert compiler.called and not any(compiler.called)
    assert meaning in mine.tql and bool(mine.tql) == bool(meaning) != bool(mine.error)


@pytest.mark.parametrize("rounds", [10, 1], ids=["again before the lock", "at last under it"])
@pytest.mark.parametrize("how", ["text", "alias"])
@pytest.mark.parametrize("owner", ["alice", "carol"])
def test_what_changes_while_it_is_compiled_is_compiled_again(
    sport: Filter, alice: User, carol: User, compiler: Compiler, monkeypatch: pytest.MonkeyPatch,
    rounds: int, how: str, owner: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(ahead, "FEW", 0)
    monkeypatch.setattr(ahead, "ROUNDS", rounds)
    whose, named = {"alice": (alice, "alice's"), "carol": (carol, "filter")}[owner]
    games = lifecycle.install(whose, "about chess", name="games", visibility="shared")
    mine = lifecycle.install(carol, f"in bob's sport or in {named} games", name="mine")

    def meanwhile() -> None:
        lifecycle.change(games, "about whist")
        compiler.called.clear()

    compiler.meanwhile.append(meanwhile)
    change, meaning = CHANGES[how]
    change(sport)
    mine.refresh_from_db()
    assert meaning in mine.tql and "whist" in mine.tql and "chess" not in mine.tql
    assert set(compiler.called) == {rounds == 1}


def test_who_comes_to_refer_to_it_while_the_others_are_compiled_is_not_forgotten(
    sport: Filter, mine: Filter, alice: User, compiler: Compiler
) -> None:
    compiler.meanwhile.append(lambda: lifecycle.install(alice, "in bob's sport", name="hers"))
    lifecycle.change(sport, "about golf")
    assert "golf" in Filter.objects.get(name="hers").tql


def test_what_comes_while_it_is_compiled_is_judged_by_the_older_text(
    mail: Tables, sport: Filter, mine: Filter, compiler: Compiler
) -> None:
    came: list[int] = []

    def meanwhile() -> None:
        append_messages(mail, DjangoClock(), [Message("a@x", subject="cricket")])
        came.append(Clock.instant())

    compiler.meanwhile.append(meanwhile)
    lifecycle.change(sport, "about golf")
    mine.refresh_from_db()
    window = PendingWindow.objects.get(filter=mine)
    assert "cricket" in window.tql and came[0] < window.until == mine.since


def test_one_that_cannot_be_stored_costs_no_other(
    sport: Filter, mine: Filter, alice: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    lifecycle.install(alice, "in bob's sport", name="hers")
    apply = dependents._apply

    def fails(filter_: Filter, outcome: Outcome, at: int) -> Any:
        if filter_.pk == mine.pk and outcome.tql:
            raise KeyError
        return apply(filter_, outcome, at)

    monkeypatch.setattr(dependents, "_apply", fails)
    lifecycle.change(sport, "about golf")
    mine.refresh_from_db()
    assert "golf" in Filter.objects.get(name="hers").tql and not mine.tql and len(errors) == 1
    assert SetAside.objects.get().reason == mine.error
