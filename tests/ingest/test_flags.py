"""The flags of a message at the source are kept, for its owner alone."""

from __future__ import annotations

import pytest

from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.imap_flags import MOST, flags_to_keep
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import copies
from tapestry.tables.read.originals import original
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target
from tests.support.servers.fake_servers import FakeImap, letter


class Flagged(FakeImap):
    """Answers a fetch of messages with these flags, as they came over the line."""

    flags = b""

    def hook(self, say, command, argument, place):
        if command != "UID FETCH" or "FLAGS" not in argument:
            return None
        for uid, raw in self.folders[place].items():
            say(b"* %d FETCH (UID %d FLAGS (%s) BODY[] {%d}" % (uid, uid, self.flags, len(raw)))
            say(raw + b")")
        say("TAG OK done")
        return True


@pytest.mark.parametrize(
    ("audience", "kept"),
    [("user:alice", ("\\Flagged", "\\Answered", "ToDo", "$Junk")), ("group:x", ()), ("public", ())],
)
def test_flags_are_kept_where_nobody_else_sees_the_message(tmp_path, audience, kept):
    tables = Tables(tmp_path)
    with Flagged({"INBOX": {1: letter(1)}}) as server:
        server.flags = rb"\Seen \FLAGGED \Answered ToDo \Deleted $Junk \Recent \Draft 7"
        target = ingest_target(tables, MemoryClock(), audience)
        list(pull_account(server.account, ["INBOX"], target, InMemorySyncStates()))
    [copy] = copies(tables, "1@x.org", [audience])
    assert original(tables, "1@x.org", copy).flags == kept


@pytest.mark.parametrize(
    "strange", [b"a b", b"a)", b"a\r\nb", b'"', b"a\\b", b"{3}", b"\\*", b"\xff", b"", b"k" * 65, 7]
)
def test_nothing_is_kept_that_could_not_be_sent_as_a_keyword(strange):
    assert flags_to_keep([strange, b"todo"]) == ("todo",)


def test_no_more_flags_are_kept_than_the_bound():
    assert len(flags_to_keep(b"k%d" % n for n in range(99))) == MOST
