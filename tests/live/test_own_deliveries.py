"""No loops on a real IMAP server: keyword, header, and the folders of deliveries."""

from __future__ import annotations

import pytest

from tapestry.core.delivery_header import DELIVERY_HEADER, DeliverySigner
from tapestry.ingest.imap.session import open_imap
from tapestry.ingest.ingest_batch import Tally
from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.account import ANYWHERE, Account
from tapestry.servers.imap import DELIVERED_KEYWORD
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target
from tests.support.servers.dovecot import PASSWORD, USER

pytestmark = pytest.mark.live

SIGNER = DeliverySigner(b"of this site")


@pytest.fixture
def target(tmp_path):
    return ingest_target(Tables(tmp_path), MemoryClock(), "user:alice", is_ours=SIGNER.has_signed)


@pytest.fixture
def account(dovecot):
    return Account("imap", "127.0.0.1", dovecot.port, "none", USER, PASSWORD, allowed=ANYWHERE)


def mail(n, head=""):
    return f"{head}Message-ID: <{n}@x.org>\r\nSubject: number {n}\r\n\r\nHello\r\n".encode()


def own(n):
    return mail(n, f"{DELIVERY_HEADER}: {SIGNER.value('7')}\r\n")


def ids(target):
    rows = target.tables.open("messages").to_pyarrow_table(columns=["msgid"])
    return sorted(rows.column("msgid").to_pylist())


@pytest.mark.parametrize("states", ["kept", "lost"])
def test_own_deliveries_are_passed_over_and_counted(dovecot, account, target, states):
    folder = f"Loops {states}"
    dovecot.put(folder, mail(1), own(2), mail(3), mail(4))
    with dovecot.session() as client:
        client.select_folder(folder)
        client.add_flags([3], [DELIVERED_KEYWORD.encode()])
    memory = InMemorySyncStates()
    (report,) = pull_account(account, [folder], target, memory)
    assert report.tally == Tally(read=2, added=2, skipped=2)
    assert (report.complete, report.reached, report.total) == (True, 4, 4)
    assert ids(target) == ["1@x.org", "4@x.org"]
    dovecot.put(folder, own(5))
    memory = memory if states == "kept" else InMemorySyncStates()
    (report,) = pull_account(account, [folder], target, memory)
    assert report.tally == Tally(skipped=1)
    (report,) = pull_account(account, [folder], target, InMemorySyncStates())
    assert report.tally == Tally()


def test_the_folders_of_deliveries_are_neither_listed_nor_pulled(dovecot, account, target):
    names = ["Tapestry", "Tapestry/lunch", "Tapestry/lunch/Left", "Tapestry of Bayeux"]
    for number, name in enumerate(names):
        dovecot.put(name, mail(f"in-{number}"))
    with open_imap(account) as session:
        everything = {folder.name for folder in session.list_folders()}
        shown = {folder.name for folder in session.list_folders(hidden=["Tapestry"])}
        assert everything - shown == set(names[:3])
        assert session.expand(names, hidden=["Tapestry"]) == names[3:]
    reports = list(pull_account(account, names, target, InMemorySyncStates(), hidden=["Tapestry"]))
    assert [report.folder for report in reports] == ["Tapestry of Bayeux"]
    assert ids(target) == ["in-3@x.org"]
