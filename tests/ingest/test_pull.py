"""A pull has an end, and each folder its turn, whatever a server sends and whatever fails here."""

from __future__ import annotations

import errno
import time

import pytest

from tapestry.ingest import ingest_batch
from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.account import ConnectionLostError
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target
from tests.support.kept_memory import KeptMemory
from tests.support.servers.fake_servers import FakeImap, FakeNews, letter


class Dripping:
    """Answers a command with a line every tenth of a second, for a minute."""

    slow = "LIST"
    ended = False

    def hook(self, say, command, argument, place):
        if command != self.slow:
            return None
        for number in range(600):
            time.sleep(0.1)
            say(f"* {number} EXISTS")
        self.ended = True
        return False


class DrippingImap(Dripping, FakeImap):
    pass


class DrippingNews(Dripping, FakeNews):
    pass


@pytest.mark.parametrize(("command", "pattern"), [("LIST", "*"), ("UID FETCH", "INBOX")])
def test_a_mailbox_that_drips_is_left(tmp_path, command, pattern):
    with DrippingImap({"INBOX": {1: letter(1)}}) as server:
        server.slow = command
        is_left(server, pattern, tmp_path)


@pytest.mark.parametrize("command", ["LIST", "ARTICLE"])
def test_a_newsgroup_that_drips_is_left(tmp_path, command):
    with DrippingNews({"a.b": {1: letter(1)}}) as server:
        server.slow = command
        is_left(server, "a.*", tmp_path)


def is_left(server, pattern, root):
    target = ingest_target(Tables(root), MemoryClock(), "public")
    with pytest.raises(ConnectionLostError):
        list(pull_account(server.account, [pattern], target, InMemorySyncStates(), seconds=1.0))
    assert not server.ended


def test_a_message_with_which_nobody_reckoned_costs_its_folder_and_no_other(tmp_path):
    """What came before it, the newest, has its cursor; it is met again: nothing is passed over."""

    def is_ours(raw):
        if b"number 3" in raw:
            raise KeyError("nobody foresaw this")
        return False

    tables, states = Tables(tmp_path), InMemorySyncStates()
    folders = {"one": {n: letter(n) for n in range(1, 5)}, "two": {9: letter(9)}}
    with FakeImap(folders) as server:
        for added in (1, 0):
            target = ingest_target(tables, MemoryClock(), "public", is_ours=is_ours)
            one, two = pull_account(server.account, ["one", "two"], target, states)
            assert isinstance(one.error, KeyError) and two.error is None
            assert (one.tally.added, two.tally.added) == (added, added)
        target = ingest_target(tables, MemoryClock(), "public")
        (again,) = pull_account(server.account, ["one"], target, states)
        assert again.tally.added == 3


def test_what_the_surroundings_do_ends_a_pull(tmp_path, monkeypatch):
    def full(*_arguments, **_named):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ingest_batch, "append_messages", full)
    target = ingest_target(Tables(tmp_path), MemoryClock(), "public")
    with FakeImap({"one": {1: letter(1)}, "two": {9: letter(9)}}) as server:
        with pytest.raises(OSError, match="No space left"):
            list(pull_account(server.account, ["one", "two"], target, InMemorySyncStates()))
        assert not any("two" in told for told in server.log)


@pytest.fixture
def broken(monkeypatch):
    """Have appends of the third message raise what nobody foresaw, until it is undone."""

    def fails(tables, clock, messages, *arguments, **named):
        if any(message.msgid == "3@x.org" for message in messages):
            raise KeyError("nobody foresaw this")
        return append_messages(tables, clock, messages, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(ingest_batch, "append_messages", fails)
        yield patched


def test_a_message_that_cannot_be_appended_is_put_aside_and_comes_later(tmp_path, broken):
    target, states = ingest_target(Tables(tmp_path), MemoryClock(), "public"), KeptMemory()
    with FakeImap({"one": {n: letter(n) for n in range(1, 6)}}) as server:

        def pulled():
            (report,) = pull_account(server.account, ["one"], target, states)
            return type(report.error), report.tally.read, report.tally.added

        assert pulled() == (KeyError, 4, 4)
        assert pulled() == (type(None), 0, 0), "its time has not come"
        states.make_due("one")
        assert pulled() == (KeyError, 0, 0)
        broken.undo()
        states.make_due("one")
        assert pulled() == (type(None), 1, 1)
        assert pulled() == (type(None), 0, 0)


@pytest.mark.parametrize("states", [KeptMemory(), InMemorySyncStates()])
def test_where_too_many_cannot_be_appended_none_is_passed_over(tmp_path, broken, states):
    broken.setattr(ingest_batch, "MOST_GUILTY", 0)
    tables = Tables(tmp_path)
    target = ingest_target(tables, MemoryClock(), "public")
    with FakeImap({"one": {n: letter(n) for n in range(1, 6)}}) as server:
        (report,) = pull_account(server.account, ["one"], target, states)
        assert isinstance(report.error, KeyError)
        broken.undo()
        (report,) = pull_account(server.account, ["one"], target, states)
    assert (report.error, report.tally.read) == (None, 5)
    msgids = tables.open("messages").to_pyarrow_table(columns=["msgid"])["msgid"].to_pylist()
    assert sorted(msgids) == [f"{n}@x.org" for n in range(1, 6)]
