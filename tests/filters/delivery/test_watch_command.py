"""`filters` and `watch` in place: what is listed, kept once, and gone on with."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.core.management import call_command, load_command_class

from filters.authoring.models import Filter
from filters.people.models import User
from filters.site.management.commands import matches, watch
from tapestry.core.errors import TapestryError
from tests.support.delivery.recorded_way import Store

TEXT = "from Jones"
TQL = "m.sender_name HAS 'Jones' OR m.sender LIKE 'jones@%'"
Rows = Callable[..., list[dict[str, object]]]


@pytest.fixture
def rows(capsys: pytest.CaptureFixture[str]) -> Rows:
    def run(*arguments: str) -> list[dict[str, object]]:
        capsys.readouterr()
        call_command(*arguments, "--json")
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def test_filters_are_listed_with_their_owners(jones: Filter, bob: User, rows: Rows) -> None:
    (row,) = rows("filters")
    assert (row["owner"], row["name"], row["text"]) == ("alice", jones.name, jones.text)
    assert rows("filters", "--user", "bob") == []
    with pytest.raises(TapestryError, match="no user 'nobody'"):
        rows("filters", "--user", "nobody")


def test_what_is_watched_is_kept_once(
    alice: User, rows: Rows, store: Store, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "preview_for", lambda *_: {"count": 7})
    watched = ("watch", TEXT, "--user", "alice", "--name", "mine")
    assert rows(*watched, "--dry-run") == [{"phrase": TEXT, "tql": TQL, "count": 7}]
    assert not Filter.objects.exists()
    monkeypatch.setattr(matches.time, "sleep", interrupted)
    for came in ((), ("a",)):
        for msgid in came:
            store(Filter.objects.get(), msgid)
        with pytest.raises(KeyboardInterrupt):
            rows(*watched)
        printed = capsys.readouterr()
        assert printed.err == f"Watching alice.mine: {TEXT}\n"
        assert [json.loads(line)["msgid"] for line in printed.out.splitlines()] == [*came]
    with pytest.raises(TapestryError, match="of that short name"):
        rows("watch", "from Mary", "--user", "alice", "--name", "mine")
    with pytest.raises(TapestryError):
        rows("watch", TEXT, "--user", "alice", "--name", "no name/")


def test_what_a_program_reads_is_json_under_the_name_for_people(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """There is no terminal here; `manage.py` says it in words all the same."""
    command = load_command_class("filters.site", "filters")
    defaults = [
        command.create_parser(name, "filters").get_default("json")
        for name in ("tapestry", "manage.py")
    ]
    assert defaults == [True, False]
