"""One bad folder, group or message does not keep the others from being read."""

from __future__ import annotations

import pytest

from tapestry.ingest.imap.folder import windows
from tapestry.servers.account import ConnectionLostError, RefusedError
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target
from tests.support.kept_memory import KeptMemory
from tests.support.servers.fake_servers import FakeImap, FakeNews, letter
from tests.support.servers.pulled import ids, pulled

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("tapestry.ingest.pull.FIRST_PAUSE", 0.01)


@pytest.fixture
def target(tmp_path):
    return ingest_target(Tables(tmp_path / "tables"), MemoryClock(), "user:alice")


# Places


class Members(FakeNews):
    def hook(self, say, command, argument, place):
        if command == "GROUP" and "members" in argument:
            say("480 Authentication required")
            return True
        return None


def test_a_group_that_is_refused_does_not_hold_up_the_others(target):
    with Members({f"a.{x}": {1: letter(x)} for x in ("x", "members", "y")}) as server:
        reports, error = pulled(server.account, ["a.x", "a.members", "a.y"], target)
    assert error is None
    assert ids(target) == ["x", "y"]
    assert "480 Authentication required" in reports["a.members"].error.message
    assert [reports[f"a.{x}"].error for x in "xy"] == [None, None]


def test_where_every_group_is_refused_so_is_the_whole(target):
    with Members({f"a.members.{x}": {} for x in "xy"}) as server:
        reports, error = pulled(server.account, ["a.members.x", "a.members.y"], target)
    assert isinstance(error, RefusedError)
    assert len(reports) == 2


def test_a_group_that_is_refused_while_it_is_read_does_not_hold_up_the_others(target):
    class Closing(FakeNews):
        def hook(self, say, command, argument, place):
            if place == "a.x" and command == "OVER":
                say("502 not any more")
                return True
            return None

    with Closing({f"a.{x}": {1: letter(x)} for x in "xy"}) as server:
        reports, error = pulled(server.account, ["a.x", "a.y"], target)
    assert (error, ids(target)) == (None, ["y"])
    assert "502 not any more" in reports["a.x"].error.message


def test_a_folder_over_which_the_line_always_breaks_is_reported_before_it_is_raised(target):
    class Breaking(FakeImap):
        def hook(self, say, command, argument, place):
            if command == "EXAMINE" and "Bad" in argument:
                say("* BYE internal error")
                return False
            return None

    with Breaking({x: {1: letter(x)} for x in ("A", "Bad", "C")}) as server:
        reports, error = pulled(server.account, ["A", "Bad", "C"], target)
    assert isinstance(error, ConnectionLostError)
    assert list(reports) == ["A", "Bad"]
    assert reports["Bad"].error is error
    assert not reports["Bad"].complete


# Messages


@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_message_without_a_size_does_not_hold_up_the_others(target, hangs_up):
    class Sizeless(FakeImap):
        def hook(self, say, command, argument, place):
            if command == "UID FETCH" and "SIZE" in argument:
                say("* BYE internal error" if hangs_up else "TAG NO [SERVERBUG] internal error")
                return not hangs_up
            return None

    with Sizeless({"INBOX": {uid: letter(uid) for uid in range(1, 6)}}) as server:
        _reports, error = pulled(server.account, ["INBOX"], target)
    assert (error, ids(target)) == (None, ["1", "2", "3", "4", "5"])


def test_a_server_that_does_not_say_the_next_uid_is_never_asked_without_an_end(target):
    class Open(FakeImap):
        knows_next = False

    memory = KeptMemory()
    with Open({"INBOX": {uid: letter(uid) for uid in (2, 7, 9)}, "None": {}}) as server:
        assert pulled(server.account, ["INBOX", "None"], target, memory)[1] is None
        server.folders["INBOX"][12] = letter(12)
        server.log.clear()
        assert pulled(server.account, ["INBOX"], target, memory)[1] is None
        searches = [told for told in server.log if "SEARCH" in told]
    assert ids(target) == ["12", "2", "7", "9"]
    assert not any(":*" in told for told in searches)


def test_no_search_is_for_more_than_fits_into_a_line():
    asked = []

    class Client:
        def search(self, criteria):
            first, last = map(int, criteria[1].split(":"))
            asked.append(last - first + 1)
            return [uid for uid in (1, 3_000_000) if first <= uid <= last]

    found = [uid for uids in windows(Client(), 1, 3_000_001) for uid in uids]
    assert found == [1, 3_000_000]
    assert max(asked) == 65_536


def test_a_broken_line_of_an_overview_has_every_number_asked_for(target):
    class Continued(FakeNews):
        def overview(self, place, first, last):
            return [*super().overview(place, first, last), "continued subject\tx"]

    with Continued({"a.b": {n: letter(n) for n in (1, 2, 4)}}) as server:
        _reports, error = pulled(server.account, ["a.b"], target)
    assert (error, ids(target)) == (None, ["1", "2", "4"])


@pytest.mark.parametrize("answer", ["400 internal error", "garbage", "220 2", "502 not this"])
def test_an_article_that_is_always_answered_wrongly_is_put_aside(target, answer):
    class Wrong(FakeNews):
        def hook(self, say, command, argument, place):
            if command == "ARTICLE" and argument == "2":
                say(answer)
                return False
            return None

    memory = KeptMemory()
    with Wrong({"a.b": {n: letter(n) for n in range(1, 5)}}) as server:
        for _ in range(5):
            _reports, error = pulled(server.account, ["a.b"], target, memory)
    assert (error, ids(target)) == (None, ["1", "3", "4"])
    assert list(memory.load("a.b")["withheld"]["missing"]) == ["2"]


def test_a_dense_stretch_after_a_sparse_one_is_not_listed_at_once(target):
    with FakeNews({"a.b": {n: letter(n) for n in (1, 300_000)}}) as server:
        _reports, error = pulled(server.account, ["a.b"], target)
        overs = [told.split()[1].split("-") for told in server.log if told.startswith("OVER")]
    assert (error, ids(target)) == (None, ["1", "300000"])
    assert max(int(last) - int(first) + 1 for first, last in overs) == 10_000
