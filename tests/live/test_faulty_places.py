"""One bad folder, group or message does not keep the others from being read."""

from __future__ import annotations

import pytest
from live.fake_servers import FakeImap, FakeNews, letter
from memory_clock import MemoryClock

from tapestry.ingest.account import Account, LineBrokenError, RefusedError
from tapestry.ingest.pull_account import pull_account
from tapestry.ingest.source import BriefMemory
from tapestry.ingest.taking import Intake
from tapestry.tables.log import Tables

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("tapestry.ingest.pull_account.FIRST_PAUSE", 0.01)


@pytest.fixture
def intake(tmp_path):
    return Intake(Tables(tmp_path / "tables"), MemoryClock(), "user:alice")


def imap(server):
    return Account("imap", "127.0.0.1", server.port, "none", "joe", "secret")


def news(server):
    return Account("nntp", "127.0.0.1", server.port, "none")


def ids(intake):
    rows = intake.tables.open("messages").to_pyarrow_table(columns=["msgid"])
    return sorted(row.removesuffix("@x.org") for row in rows.column("msgid").to_pylist())


def pulled(account, places, intake):
    """Return the reports, by place, and what was raised at the end."""
    reports = {}
    try:
        for report in pull_account(account, places, intake, BriefMemory()):
            reports[report.place] = report
    except (LineBrokenError, RefusedError) as error:
        return reports, error
    return reports, None


# Places


class Members(FakeNews):
    def hook(self, say, command, argument, place):
        if command == "GROUP" and "members" in argument:
            say("480 Authentication required")
            return True
        return None


def test_a_group_that_is_refused_does_not_hold_up_the_others(intake):
    with Members({f"a.{x}": {1: letter(x)} for x in ("x", "members", "y")}) as server:
        reports, error = pulled(news(server), ["a.x", "a.members", "a.y"], intake)
    assert error is None
    assert ids(intake) == ["x", "y"]
    assert "480 Authentication required" in reports["a.members"].error.message
    assert [reports[f"a.{x}"].error for x in "xy"] == [None, None]


def test_where_every_group_is_refused_so_is_the_whole(intake):
    with Members({f"a.members.{x}": {} for x in "xy"}) as server:
        reports, error = pulled(news(server), ["a.members.x", "a.members.y"], intake)
    assert isinstance(error, RefusedError)
    assert len(reports) == 2


def test_a_group_that_is_refused_while_it_is_read_does_not_hold_up_the_others(intake):
    class Closing(FakeNews):
        def hook(self, say, command, argument, place):
            if place == "a.x" and command == "OVER":
                say("502 not any more")
                return True
            return None

    with Closing({f"a.{x}": {1: letter(x)} for x in "xy"}) as server:
        reports, error = pulled(news(server), ["a.x", "a.y"], intake)
    assert (error, ids(intake)) == (None, ["y"])
    assert "502 not any more" in reports["a.x"].error.message


def test_a_folder_over_which_the_line_always_breaks_is_reported_before_it_is_raised(intake):
    class Breaking(FakeImap):
        def hook(self, say, command, argument, place):
            if command == "EXAMINE" and "Bad" in argument:
                say("* BYE internal error")
                return False
            return None

    with Breaking({x: {1: letter(x)} for x in ("A", "Bad", "C")}) as server:
        reports, error = pulled(imap(server), ["A", "Bad", "C"], intake)
    assert isinstance(error, LineBrokenError)
    assert list(reports) == ["A", "Bad"]
    assert reports["Bad"].error is error
    assert not reports["Bad"].whole
