"""The first look at a mailbox or newsgroup: newest first, gone on with, and no silence invented."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tapestry.ingest.pull import pull_account
from tapestry.ingest.session import read_url
from tapestry.servers.account import Account
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import OverAfter, ingest, ingest_target
from tests.support.kept_memory import KeptMemory
from tests.support.oracle import silence
from tests.support.servers.inn import running_inn

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def inn():
    with running_inn() as server:
        yield server


class Mailbox:
    """A folder of the IMAP server, of a name of its own."""

    def __init__(self, dovecot, name):
        self.server, self.folder = dovecot, name
        self.account: Account = read_url(dovecot.url(name))[0]
        self.url = dovecot.url(name)

    def put(self, *messages):
        self.server.put(self.folder, *messages)


class Newsgroup:
    """The newsgroup of a server that was begun anew."""

    folder = "comp.misc"

    def __init__(self, inn):
        inn.begin_anew()
        self.server, self.url = inn, inn.url(self.folder)
        self.account: Account = read_url(self.url)[0]

    def put(self, *messages):
        self.server.post(*messages)


@pytest.fixture(params=["imap", "nntp"])
def source(request):
    if request.param == "nntp":
        return Newsgroup(request.getfixturevalue("inn"))
    name = request.node.name.replace("[", "-").replace("]", "")
    return Mailbox(request.getfixturevalue("dovecot"), name)


@pytest.fixture
def target(tmp_path):
    return ingest_target(Tables(tmp_path), MemoryClock(), "public")


def in_order(target):
    """Return the numbers of the messages in the order in which they became visible."""
    rows = target.tables.open("messages").to_pyarrow_table(columns=["msgid", "ts"]).to_pylist()
    numbers = [(row["ts"], -int(row["msgid"].partition("@")[0])) for row in rows]
    return [-number for _, number in sorted(numbers)]


def pull(source, target, states, batches):
    """Pull some batches, as a slice of time would end."""
    stopping = replace(target, intake=OverAfter(batches))
    return list(pull_account(source.account, [source.folder], stopping, states))[-1]


def test_the_newest_come_first_and_what_arrives_meanwhile_before_the_rest(
    source, target, monkeypatch
):
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 2)
    mail = silence.threads(random.Random(1), 9)
    source.put(*mail[:7])
    states = KeptMemory()
    assert not pull(source, target, states, batches=2).complete
    assert in_order(target) == [6, 5, 4, 3]
    source.put(*mail[7:])
    assert pull(source, target, states, batches=100).complete
    assert in_order(target) == [6, 5, 4, 3, 8, 7, 2, 1, 0]
    assert pull(source, target, states, batches=100).tally.read == 0


@pytest.mark.parametrize("seed", range(3))
def test_it_invents_no_silence(source, target, monkeypatch, seed):
    chance = random.Random(seed)
    source.put(*silence.threads(chance, 12))
    states = KeptMemory()
    complete = False
    while not complete:
        monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", chance.randint(1, 4))
        complete = pull(source, target, states, chance.randint(1, 3)).complete
    silence.check(target.tables, 12)


def test_progress_counts_what_an_earlier_run_read(source, target, monkeypatch):
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 3)
    source.put(*silence.threads(random.Random(2), 10))
    seen = []

    def show(done, total):
        seen.append((done, total))
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        ingest(source.url, target.tables, target.clock, progress=show)
    assert str(stopped.value) == "6 of 10 have been read; run it again to go on."
    report = ingest(source.url, target.tables, target.clock, progress=show)
    assert seen == [(3, 10), (6, 10), (9, 10), (10, 10)]
    assert (report.read, report.added) == (4, 4)
