"""`manage.py matches`: a stream that goes on exactly where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.core.management import call_command

from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.site.management.commands import matches
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tests.support.delivery.recorded_way import Store

Lines = Callable[..., list[dict[str, object]]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    def read(*options: str) -> list[dict[str, object]]:
        call_command("matches", "alice.jones", "--json", *options)
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return read


def test_a_reader_that_goes_on_after_any_line_misses_nothing(
    jones: Filter, store: Store, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "AT_ONCE", 2)
    for number in range(5):
        store(jones, f"m{number}")
    whole = lines()
    assert [row["msgid"] for row in whole] == [f"m{number}" for number in range(5)]
    for stop, row in enumerate(whole, 1):
        assert lines("--since", str(row["cursor"])) == whole[stop:]
    store(jones, "next")
    assert [row["msgid"] for row in lines("--since", str(whole[-1]["cursor"]))] == ["next"]


def test_what_its_owner_may_not_see_is_passed(
    jones: Filter, store: Store, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "AT_ONCE", 1)
    store(jones, "a", audience="user:bob")
    store(jones, "b")
    assert [row["msgid"] for row in lines()] == ["b"]


def test_a_retraction_is_an_entry_of_the_stream(jones: Filter, store: Store, lines: Lines) -> None:
    match = store(jones, "a")
    [entered] = lines()
    Match.objects.filter(pk=match.pk).update(retracted_at=wall_clock(), sequence=None)
    [left] = lines("--since", str(entered["cursor"]))
    assert (entered["op"], left["op"], left["msgid"]) == ("insert", "delete", "a")


@pytest.mark.parametrize(
    ("name", "words"), [("alice.nothing", "no filter"), ("jones", "Several people")]
)
def test_a_name_that_says_no_filter_is_refused(
    bob: User, jones: Filter, name: str, words: str
) -> None:
    Filter.objects.create(owner=bob, name="jones", text="x")
    with pytest.raises(TapestryError, match=words):
        call_command("matches", name)
