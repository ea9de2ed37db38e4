"""A pull has an end, though a server sends a little now and then."""

from __future__ import annotations

import time

import pytest
from support.clocks import MemoryClock
from support.servers.fake_servers import FakeImap, FakeNews, letter

from tapestry.ingest.ingest_batch import IngestTarget
from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.account import ConnectionLostError
from tapestry.tables.delta.log import Tables


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
    target = IngestTarget(Tables(root), MemoryClock(), "public")
    with pytest.raises(ConnectionLostError):
        list(pull_account(server.account, [pattern], target, InMemorySyncStates(), seconds=1.0))
    assert not server.ended
