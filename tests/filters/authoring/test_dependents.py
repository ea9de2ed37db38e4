"""Filters that refer to filters: a change reaches them at its moment, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from filters.authoring import lifecycle
from filters.authoring.compilation import ahead
from filters.authoring.models import Filter, PendingWindow
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.runs.models import Clock, SetAside
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore, latest_instant
from filters.site.work import set_aside
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.core.surroundings import NobodysFaultError
from tapestry.run.limits import suspects
from tapestry.run.windows import own as own_windows
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.faults.set_asides import Planted

pytestmark = pytest.mark.usefixtures("engine")


def arrive(mail: Tables, subject: str) -> str:
    msgid = f"{subject.replace(' ', '-')}@example.org"
    append_messages(mail, DjangoClock(), [Message(msgid, subject=subject)])
    return msgid


def matched(user: User, name: str) -> set[str]:
    matches = Match.objects.visible_to(user).filter(filter__name=name)
    return set(matches.values_list("msgid", flat=True))


def state(of: Filter) -> Filter:
    of.refresh_from_db()
    return of


def test_a_change_reaches_those_who_refer_to_it_from_its_moment_on(
    mail: Tables, bob: User, carol: User
) -> None:
    sport = lifecycle.install(bob, "about cricket", name="sport", visibility="shared")
    mine = lifecycle.install(carol, "in bob's sport", name="mine", existing=True)
    before = {arrive(mail, "cricket one"), arrive(mail, "tennis one")}
    lifecycle.change(sport, "about tennis", existing=True)
    after = {arrive(mail, "cricket two"), arrive(mail, "tennis two")}
    rounds.run_round()
    assert matched(carol, "mine") == {"cricket-one@example.org", "tennis-two@example.org"}
    assert matched(bob, "sport") == {
        *before,
        "tennis-two@example.org",
    }
    assert after - matched(carol, "mine") == {"cricket-two@example.org"}
    assert "tennis" in state(mine).tql
    assert not PendingWindow.objects.exists()


def test_what_an_older_text_had_left_to_find_is_delivered_as_it_would_have_been(
    mail: Tables, carol: User
) -> None:
    made = lifecycle.install(carol, "about cricket", name="f", existing=False)
    arrive(mail, "cricket one")
    lifecycle.change(made, "about tennis", existing=False)
    arrive(mail, "cricket two")
    arrive(mail, "tennis two")
    rounds.run_round()
    assert matched(carol, "f") == {"cricket-one@example.org", "tennis-two@example.org"}
    assert Match.objects.get(msgid="cricket-one@example.org").explanation == "about cricket"


def test_several_changes_between_two_runs_lose_nothing(mail: Tables, carol: User) -> None:
    made = lifecycle.install(carol, "about cricket", name="f", existing=False)
    for text, subject in [
        ("about tennis", "cricket one"),
        ("about golf", "tennis two"),
        ("about chess", "golf three"),
    ]:
        arrive(mail, subject)
        lifecycle.change(made, text, existing=False)
    arrive(mail, "chess four")
    arrive(mail, "cricket five")
    rounds.run_round()
    assert {msgid.partition("@")[0] for msgid in matched(carol, "f")} == {
        "cricket-one",
        "tennis-two",
        "golf-three",
        "chess-four",
    }


def test_the_pending_window_of_an_older_text_is_stored_once(mail: Tables, carol: User) -> None:
    made = lifecycle.install(carol, "about cricket", name="f", existing=False)
    arrive(mail, "cricket one")
    lifecycle.change(made, "about tennis", existing=False)
    store = DjangoFilterStore()
    due = store.due(latest_instant())
    assert [(due_filter.text, due_filter.pending_window is None) for due_filter in due] == [
        ("m.subject HAS 'cricket'", False)
    ]
    assert store.commit(due, latest_instant(), [])
    assert not store.commit(due, latest_instant(), [])


def test_a_pending_window_may_be_run_in_parts(mail: Tables, carol: User) -> None:
    made = lifecycle.install(carol, "about cricket", name="f", existing=False)
    arrive(mail, "cricket one")
    lifecycle.change(made, "about tennis", existing=False)
    store = DjangoFilterStore()
    [due] = store.due(latest_instant())
    end = due.since + 1
    part = replace(due, until=end)
    assert store.commit([part], end, [])
    assert not store.commit([part], end, [])
    assert store.due(latest_instant()) == [replace(due, since=end)]
    rounds.run_round()
    assert matched(carol, "f") == {"cricket-one@example.org"}
    assert not PendingWindow.objects.exists()


def test_a_pending_window_that_ends_later_is_not_run_again_where_it_has_been_run(
    mail: Tables, carol: User
) -> None:
    made = lifecycle.install(carol, "about cricket", name="f", existing=False)
    arrive(mail, "cricket one")
    middle = latest_instant()
    arrive(mail, "cricket two")
    lifecycle.change(made, "about tennis", existing=False)
    store = DjangoFilterStore()
    (due,) = store.due(middle)
    assert store.commit([due], middle, [])
    assert store.due(middle) == []
    assert store.due(latest_instant()) == [replace(due, since=middle)]


def test_a_pending_window_that_cannot_be_run_waits_until_its_owner_resumes(
    mail: Tables, carol: User
) -> None:
    made = lifecycle.install(carol, "about cricket", name="f", existing=False)
    arrive(mail, "cricket one")
    lifecycle.change(made, "about tennis", existing=False)
    PendingWindow.objects.update(error="Spark could not run it.")
    rounds.run_round()
    assert matched(carol, "f") == set()
    lifecycle.resume(made)
    rounds.run_round()
    assert matched(carol, "f") == {"cricket-one@example.org"}


def test_a_change_reaches_those_who_refer_through_another_filter(
    mail: Tables, bob: User, carol: User
) -> None:
    first = lifecycle.install(bob, "about cricket", name="one", visibility="shared")
    lifecycle.install(bob, "in filter one", name="two", visibility="shared")
    third = lifecycle.install(carol, "in bob's two and not replies", name="three")
    lifecycle.change(first, "about tennis")
    assert "tennis" in state(third).tql and "cricket" not in third.tql


@pytest.mark.parametrize("how", ["unshared", "renamed", "deleted"])
def test_where_it_may_be_used_no_more_the_others_stop_and_say_so(
    mail: Tables, bob: User, carol: User, how: str
) -> None:
    sport = lifecycle.install(bob, "about cricket", name="sport", visibility="shared")
    mine = lifecycle.install(carol, "in bob's sport", name="mine")
    early = arrive(mail, "cricket early")
    match how:
        case "unshared":
            lifecycle.change(sport, sport.text, visibility="private")
        case "renamed":
            lifecycle.change(sport, sport.text, name="games")
        case "deleted":
            lifecycle.delete(sport)
    assert "sport" in state(mine).error
    arrive(mail, "cricket late")
    rounds.run_round()
    assert matched(carol, "mine") == {early}
    if how == "deleted":
        lifecycle.install(bob, "about tennis", name="sport", visibility="shared")
    else:
        lifecycle.change(sport, "about tennis", name="sport", visibility="shared")
    assert state(mine).error == ""
    last = arrive(mail, "tennis last")
    rounds.run_round()
    assert matched(carol, "mine") == {early, last}


def understand_but_for(owner: str) -> Callable[[str, Any], Any]:
    """Return what compiles a text, and raises an error for what one person has written."""
    understand = ahead.understand

    def fails(text: str, context: Any) -> Any:
        if context.owner == owner:
            raise KeyError
        return understand(text, context)

    return fails


def test_a_circle_is_refused_where_it_would_close_and_named(carol: User) -> None:
    first = lifecycle.install(carol, "about cricket", name="one")
    lifecycle.install(carol, "in filter one", name="two")
    lifecycle.install(carol, "in filter two", name="three")
    with pytest.raises(TapestryError, match="one → three → two → one"):
        lifecycle.change(first, "in filter three")
    assert state(first).text == "about cricket"


def test_a_circle_is_refused_in_whatever_capitals_it_is_written(carol: User) -> None:
    first = lifecycle.install(carol, "about cricket", name="one")
    lifecycle.install(carol, "m IN ONE", name="two")
    for text in ("m IN Two OR m.size > 3", "m IN ONE OR m.size > 3"):
        with pytest.raises(TapestryError, match="refer to each other"):
            lifecycle.change(first, text)
    assert state(first).text == "about cricket" and not state(first).error


def test_somebody_elses_filter_that_raises_holds_up_no_change_of_zone(
    bob: User, carol: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    lifecycle.install(carol, "since yesterday", name="late", visibility="shared")
    theirs = lifecycle.install(bob, "in carol's late", name="theirs")
    understand = understand_but_for("bob")
    with monkeypatch.context() as broken:
        broken.setattr(ahead, "understand", understand)
        carol.time_zone = "Asia/Tokyo"
        carol.save()
    assert User.objects.get(pk=carol.pk).time_zone == "Asia/Tokyo"
    assert len(errors) == 1 and state(theirs).error


def test_a_change_of_options_alone_does_not_start_a_filter_again(mail: Tables, carol: User) -> None:
    made = lifecycle.install(carol, "about cricket", name="f")
    rounds.run_round()
    since = state(made).since
    lifecycle.change(made, made.text, name="g", timeliness="hourly", visibility="shared")
    assert (made.since, made.name) == (since, "g")
    assert not PendingWindow.objects.exists()


def test_a_new_title_loses_nothing_that_a_failed_filter_has_still_to_find(
    mail: Tables, carol: User
) -> None:
    made = lifecycle.install(carol, "about cricket", name="f", existing=False)
    arrive(mail, "cricket one")
    [due] = DjangoFilterStore().due(wall_clock())
    DjangoFilterStore().fail(due, "Spark could not run it.")
    arrive(mail, "cricket two")
    lifecycle.change(made, made.text, name="g", title="Cricket")
    assert (state(made).error, made.start) == ("", made.since)
    rounds.run_round()
    assert matched(carol, "g") == {"cricket-one@example.org", "cricket-two@example.org"}


@pytest.mark.parametrize("which", ["alias", "address"])
def test_new_addresses_of_mine_count_from_the_moment_they_are_stored(
    mail: Tables, bob: User, carol: User, which: str
) -> None:
    lifecycle.install(carol, "to me", name="mine", visibility="shared")
    hers = lifecycle.install(bob, "in carol's mine", name="hers")
    if which == "alias":
        carol.aliases = ["new@example.org"]
        carol.save()
    else:
        carol.email = "new@example.org"
        with transaction.atomic():
            carol.save()
    assert "new@example.org" in state(hers).tql
    assert hers.since <= Clock.instant(), "the wall clock may be set back before mail comes"
    append_messages(mail, DjangoClock(), [Message("n@x", to=("new@example.org",))])
    rounds.run_round()
    assert matched(carol, "mine") == matched(bob, "hers") == {"n@x"}


def test_a_date_is_stored_as_the_day_that_it_was(mail: Tables, bob: User, carol: User) -> None:
    made = lifecycle.install(carol, "since Monday", name="days", visibility="shared")
    text, tql = made.text, made.tql
    assert text == made.phrase != "since Monday"
    assert [word.isdigit() for word in text.split()] == [False, True, False, True]
    lifecycle.change(made, "Since MONDAY", name="days")
    assert (made.text, made.tql) == (text, tql)
    lifecycle.change(made, "since 2024, from Mary")
    assert made.text == "since 2024, from Mary"


def test_days_are_those_of_the_time_zone_that_the_owner_has_now(
    mail: Tables, bob: User, carol: User
) -> None:
    days = lifecycle.install(carol, "since 1 March 2026", name="days", visibility="shared")
    hers = lifecycle.install(bob, "in carol's days", name="hers")
    assert days.tql == hers.tql == "m.received >= TIMESTAMP '2026-03-01 00:00:00'"
    carol.time_zone = "America/New_York"
    carol.save()
    later = "m.received >= TIMESTAMP '2026-03-01 05:00:00'"
    assert state(days).tql == state(hers).tql == later


@pytest.mark.parametrize("how", ["installed", "changed"])
def test_what_is_referred_to_may_change_while_one_comes_to_refer_to_it(
    mail: Tables, carol: User, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    base = lifecycle.install(carol, "about cricket", name="base")
    made = lifecycle.install(carol, "about golf", name="f")
    real = lifecycle.present

    def overtaken() -> int:
        monkeypatch.setattr(lifecycle, "present", real)
        lifecycle.change(base, "about tennis")
        return real()

    monkeypatch.setattr(lifecycle, "present", overtaken)
    if how == "installed":
        made = lifecycle.install(carol, "in filter base", name="g", existing=False)
    else:
        lifecycle.change(made, "in filter base")
    assert "tennis" in state(made).tql


def test_a_filter_that_raises_holds_up_no_change_of_what_it_refers_to(
    mail: Tables, alice: User, bob: User, carol: User, monkeypatch: pytest.MonkeyPatch,
    set_asides: Planted,
) -> None:  # fmt: skip
    """The others have their new meaning at once, and it has its own from the same instant on."""
    errors = set_asides.expect()
    sport = lifecycle.install(bob, "about cricket", name="sport", visibility="shared")
    mine, theirs = (
        lifecycle.install(owner, "in bob's sport", name="mine") for owner in (carol, alice)
    )
    arrive(mail, "cricket one")
    understand = understand_but_for("carol")
    with monkeypatch.context() as broken:
        broken.setattr(ahead, "understand", understand)
        lifecycle.change(sport, "about tennis", existing=True)
    assert "tennis" in state(theirs).tql and len(errors) == 1
    assert SetAside.objects.get().reason == state(mine).error
    arrive(mail, "cricket two")
    arrive(mail, "tennis two")
    rounds.run_round()
    found = {"cricket-one@example.org", "tennis-two@example.org"}
    assert (matched(alice, "mine"), matched(carol, "mine")) == (found, {min(found)})
    set_aside.try_now()
    rounds.run_round()
    rounds.run_round()
    assert matched(carol, "mine") == found and not state(mine).error
    assert not SetAside.objects.exists()


def test_what_was_set_aside_is_run_in_its_old_meaning_once_that_has_changed(
    mail: Tables, carol: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    mine = lifecycle.install(carol, "about cricket", name="mine")
    arrive(mail, "cricket one")
    with monkeypatch.context() as broken:
        broken.setattr(own_windows, "subscribe", lambda _: {}["nobody foresaw this"])
        rounds.run_round()
    assert errors and state(mine).error
    lifecycle.change(mine, "about tennis")
    arrive(mail, "tennis two")
    for _ in range(3):
        rounds.run_round()
    assert matched(carol, "mine") == {"cricket-one@example.org", "tennis-two@example.org"}
    assert not PendingWindow.objects.exists() and not SetAside.objects.exists()


def test_tables_that_cannot_be_read_are_no_filters_fault(
    mail: Tables, carol: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds.run_shared_lane()  # it says up to where own windows go
    arrive(mail, "cricket one")
    rounds.run_shared_lane()
    mine = lifecycle.install(carol, "about cricket", name="mine")
    Filter.objects.update(proven=True)

    def away(*_: Any, **__: Any) -> Any:
        raise TapestryError("Too many open files.")

    with monkeypatch.context() as broken:
        broken.setattr(suspects, "snapshot", away)
        with pytest.raises(NobodysFaultError):
            rounds.run_own_lane()
    assert state(mine).error == ""
    rounds.run_round()
    assert matched(carol, "mine") == {"cricket-one@example.org"}
