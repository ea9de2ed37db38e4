"""Messages that a server lists but does not hand over are asked for until they come."""

from __future__ import annotations

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest import fetch
from tapestry.ingest import unavailable as unavailable_messages
from tapestry.ingest.fetch import FetchResult, UnavailableMessages
from tapestry.ingest.large_message import RawMessage
from tapestry.ingest.nntp import session
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.ingest.unavailable import MOST
from tapestry.servers.account import ConnectionLostError
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest, ingest_target
from tests.support.kept_memory import KeptMemory
from tests.support.servers.fake_servers import FakeImap, FakeNews, letter
from tests.support.servers.pulled import ids, pulled

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("tapestry.ingest.pull.FIRST_PAUSE", 0.01)
    monkeypatch.setattr(session, "ARTICLES_PER_SECOND", 100_000.0)


@pytest.fixture
def target(tmp_path):
    return ingest_target(Tables(tmp_path / "tables"), MemoryClock(), "user:alice")


class Withholding(FakeImap):
    """Says NO to whoever asks for one of the ``bad``, alone or among others."""

    bad = ()
    no = "NO cannot read it"

    def hook(self, say, command, argument, place):
        if command == "UID FETCH" and "BODY" in argument:
            asked = self._among(self.folders[place], argument.split(" ")[0])
            if set(asked) & set(self.bad):
                say(f"TAG {self.no}")
                return True
        return None


class Faulty(FakeNews):
    """Answers for each of the ``bad`` articles that something is wrong."""

    bad = ()
    no = "403 spool not mounted"

    def hook(self, say, command, argument, place):
        if command == "ARTICLE" and int(argument) in self.bad:
            say(self.no)
            return True
        return None


def server_of(kind, count):
    letters = {n: letter(n) for n in range(1, count + 1)}
    server, place = (Withholding, "INBOX") if kind == "imap" else (Faulty, "a.b")
    return server({place: letters}), place


BUSY = [
    ("imap", "NO [UNAVAILABLE] try again"),
    ("imap", "NO [INUSE] it is being indexed"),
    ("nntp", "403 spool not mounted"),
    ("nntp", "400 going down"),
]


@pytest.mark.parametrize(("kind", "no"), BUSY)
def test_a_server_that_has_a_bad_day_is_a_broken_line(target, kind, no):
    memory = KeptMemory()
    server, place = server_of(kind, 250)
    server.no, server.bad = no, range(1, 251)
    with server:
        _reports, error = pulled(server.account, [place], target, memory)
        assert isinstance(error, ConnectionLostError)
        # After 400 the line is cut, as over an article that breaks it: one is put aside.
        aside = memory.load(place).get("withheld", {}).get("missing", {})
        assert len(aside) == ("400" in no)
        server.bad = ()
        for _ in range(2):
            assert pulled(server.account, [place], target, memory)[1] is None
            if "400" in no:
                memory.make_due(place)
        assert pulled(server.account, [place], target, memory)[1] is None
    assert len(ids(target)) == 250


@pytest.mark.parametrize(("kind", "no"), BUSY[:3])
def test_what_is_said_of_one_of_many_is_about_that_one(target, kind, no):
    memory = KeptMemory()
    server, place = server_of(kind, 5)
    server.no, server.bad = no, [1, 4]
    with server:
        assert pulled(server.account, [place], target, memory)[1] is None
        assert ids(target) == ["2", "3", "5"]
        server.bad = ()
        memory.make_due(place)
        assert pulled(server.account, [place], target, memory)[1] is None
    assert ids(target) == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("kind", ["imap", "nntp"])
def test_twenty_in_a_row_are_put_aside_and_the_cursor_stays_before_the_next(target, kind):
    memory = KeptMemory()
    server, place = server_of(kind, 60)
    server.no = "NO cannot read it" if kind == "imap" else "503 cannot read it"
    server.bad = range(11, 51)
    with server:
        _reports, error = pulled(server.account, [place], target, memory)
        assert isinstance(error, ConnectionLostError)
        assert "20 of them in a row" in error.message
        assert len(ids(target)) == 10
        assert len(memory.load(place)["withheld"]["missing"]) == 20
        # What is withheld for good holds the others up only until it was asked for again.
        for _ in range(2):
            memory.make_due(place)
            _reports, error = pulled(server.account, [place], target, memory)
        assert (error, len(ids(target))) == (None, 20)
        server.bad = ()
        memory.make_due(place)
        assert pulled(server.account, [place], target, memory)[1] is None
    assert len(ids(target)) == 60


@pytest.mark.parametrize("kind", ["imap", "nntp"])
def test_a_message_over_which_the_line_was_cut_often_is_late_and_comes_once(target, kind):
    memory = KeptMemory()
    server, place = server_of(kind, 5)
    # In a mailbox all are asked for together, and then each alone.
    cuts = [False] * (4 if kind == "imap" else 3)

    def cut(say, command, argument, place):
        asked = command == "ARTICLE" or (command == "UID FETCH" and "BODY" in argument)
        if asked and 3 in FakeImap._among(range(1, 6), argument.split(" ")[0]):
            return cuts.pop() if cuts else None
        return None

    server.hook = cut
    with server:
        for _ in range(2):
            assert pulled(server.account, [place], target, memory)[1] is None
            assert ids(target) == ["1", "2", "4", "5"]
        memory.make_due(place)
        for _ in range(2):
            assert pulled(server.account, [place], target, memory)[1] is None
            assert ids(target) == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("most", [100, pytest.param(MOST, marks=pytest.mark.long)])
def test_nothing_that_was_put_aside_is_ever_dropped(monkeypatch, most):
    for module in (fetch, unavailable_messages):
        monkeypatch.setattr(module, "MOST", most)
    memory = KeptMemory()
    unavailable = UnavailableMessages(memory, "INBOX", 1, "inbox")
    for number in range(most):
        unavailable.note(FetchResult(2 * number, None, unavailable=True))
        unavailable.note(FetchResult(2 * number + 1, RawMessage(b"x")))
    with pytest.raises(ConnectionLostError, match=f"{most} messages"):
        unavailable.note(FetchResult(9999, None, unavailable=True))
    again = UnavailableMessages(memory, "INBOX", 1, "inbox")
    assert len(again.state.missing) == most
    assert again.state.is_full
    again.state = again.state.without(0)
    again.note(FetchResult(9999, None, unavailable=True))
    assert 9999 in again.state


# Where the memory ends with the command


@pytest.mark.parametrize("kind", ["imap", "nntp"])
def test_a_command_takes_in_the_rest_says_so_and_asks_again_when_it_is_run_again(target, kind):
    server, place = server_of(kind, 9)
    server.bad = [3, 6]
    url = f"{kind}://u:p@127.0.0.1:{server.port}/{place}"
    with server:
        for _ in range(2):
            with pytest.raises(TapestryError, match="2 could not be had") as caught:
                ingest(url, target.tables, target.clock, "user:alice")
            assert "Run the same again" in caught.value.hint
            assert ids(target) == ["1", "2", "4", "5", "7", "8", "9"]
        server.bad = ()
        assert ingest(url, target.tables, target.clock, "user:alice").added == 2
        assert ingest(url, target.tables, target.clock, "user:alice").read == 0
    assert ids(target) == [f"{n}" for n in range(1, 10)]


def test_a_command_takes_in_the_other_groups_before_it_says_so(target):
    with Faulty({f"a.{n}": {n: letter(n)} for n in range(1, 4)}) as server:
        server.bad = [2]
        reports, error = pulled(server.account, ["a.*"], target, InMemorySyncStates())
    said = "everything in a.2: of what it lists, 1 could not be had"
    assert said in reports["a.2"].error.message
    assert error is None
    assert list(reports) == ["a.1", "a.2", "a.3"]
    assert ids(target) == ["1", "3"]


def test_a_command_reads_on_from_where_the_line_broke_not_from_what_is_withheld(target):
    class Cutting(Withholding):
        cuts = 3

        def hook(self, say, command, argument, place):
            if command == "UID FETCH" and "BODY" in argument and "9" in argument and self.cuts:
                self.cuts -= 1
                return False
            return super().hook(say, command, argument, place)

    with Cutting({"INBOX": {n: letter(n) for n in range(1, 10)}}) as server:
        server.bad = [2]
        reports, error = pulled(server.account, ["INBOX"], target, InMemorySyncStates())
        asked = [told for told in server.log if "BODY" in told and told.split()[3] == "5"]
    assert "1 could not be had" in reports["INBOX"].error.message
    assert error is None
    assert ids(target) == ["1", "3", "4", "5", "6", "7", "8", "9"]
    assert len(asked) == 1


# Where there are many groups


def test_a_quiet_group_among_many_is_asked_for_what_it_withholds(target):
    memory = KeptMemory()
    with Faulty({f"a.g{n}": {n: letter(n)} for n in range(1, 61)}) as server:
        server.bad = [3]
        assert pulled(server.account, ["a.*"], target, memory)[1] is None
        assert len(ids(target)) == 59
        server.bad = ()
        memory.make_due("a.g3")
        server.log.clear()
        assert pulled(server.account, ["a.*"], target, memory)[1] is None
        entered = [told for told in server.log if told.startswith("GROUP")]
    assert len(ids(target)) == 60
    assert entered == ["GROUP a.g3"]
