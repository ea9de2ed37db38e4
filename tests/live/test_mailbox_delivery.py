"""Delivery into a real mailbox: folders, flags, once only, moved and never deleted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import pytest
from imapclient import IMAPClient
from support.clocks import MemoryClock
from support.servers.cutting_proxy import CuttingProxy
from support.servers.dovecot import PASSWORD, USER, running_dovecot

from tapestry.core.clock import DAY, SECOND, to_instant
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, DeliveredMatch
from tapestry.deliver.ways.mailbox import MailboxSettings, deliver_to_mailbox, open_mailbox
from tapestry.ingest.imap.session import open_imap
from tapestry.ingest.ingest_batch import IngestTarget, Tally
from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.account import ANYWHERE, Account
from tapestry.servers.imap import DELIVERED_KEYWORD
from tapestry.tables.log import Tables

pytestmark = pytest.mark.live

RECEIVED = 20_000 * DAY + 5 * SECOND


def account_of(port, secret=PASSWORD):
    return Account("imap", "127.0.0.1", port, "none", USER, secret, allowed=ANYWHERE)


def mail(n, body="Hello\r\n"):
    return f"Message-ID: <{n}@x.org>\r\nFrom: joe@x.org\r\nSubject: no. {n}\r\n\r\n{body}".encode()


class Person:
    """One filter of a person, and what was stored of its deliveries."""

    def __init__(self, server, name, port=None):
        self.server = server
        self.name = name
        self.account = account_of(port or server.port)
        self.settings = MailboxSettings()
        self.originals = {}
        self.confirmed = []
        self.delivered = set()
        self.seen = set()
        self.sequence = 0

    def match(self, n, op="insert", raw=None):
        self.sequence += 1
        msgid = f"{n}@x.org"
        self.originals.setdefault(msgid, mail(n) if raw is None else raw)
        return DeliveredMatch(
            self.sequence, op, 7, self.name, "", msgid, "public", f"no. {n}", "joe@x.org", "",
            RECEIVED, RECEIVED,
        )  # fmt: skip

    def confirm(self, confirmation):
        self.confirmed.append(confirmation.action)
        self.delivered.add((7, confirmation.match.msgid))

    def deliver(self, *matches):
        """Deliver; return the state and what was done."""
        self.confirmed = []
        batch = Batch("key", 0, self.sequence, matches)
        self.outcome = deliver_to_mailbox(
            self.account,
            self.settings,
            batch,
            lambda msgid, audience: self.originals.get(msgid),
            self.confirm,
            self.delivered,
            self.seen,
        )
        return self.outcome.state, self.confirmed

    def folder(self, *below):
        return "/".join(["Tapestry", self.name, *below])

    def content(self, *below):
        """Return the messages of a folder: subject without its words, for comparison."""
        with self.server.session() as client:
            if not client.folder_exists(self.folder(*below)):
                return None
            client.select_folder(self.folder(*below), readonly=True)
            fetched = client.fetch(client.search(), ["BODY.PEEK[]"])
            return sorted(attributes[b"BODY[]"] for attributes in fetched.values())


@pytest.fixture
def person(dovecot, request):
    return Person(dovecot, request.node.name.partition("[")[0][:60])


def test_the_originals_are_put_into_a_folder_of_the_filter(person, dovecot):
    raw = b"Message-ID: <1@x.org>\nSubject: =?utf-8?q?caf=C3=A9?=\n\nGr\xc3\xbc\xc3\x9fe\n"
    person.seen = {"2@x.org"}
    assert person.deliver(person.match(1, raw=raw), person.match(2)) == (
        "delivered",
        ["appended", "appended"],
    )
    assert person.outcome.answer == "2 messages were put in."
    assert person.content() == sorted([raw.replace(b"\n", b"\r\n"), mail(2)])
    with dovecot.session() as client:
        client.select_folder(person.folder(), readonly=True)
        fetched = client.fetch([1, 2], ["FLAGS", "INTERNALDATE"])
        keyword = DELIVERED_KEYWORD.encode()
        assert set(fetched[1][b"FLAGS"]) - {b"\\Recent"} == {keyword}
        assert set(fetched[2][b"FLAGS"]) - {b"\\Recent"} == {keyword, b"\\Seen"}
        received = fetched[1][b"INTERNALDATE"].astimezone(UTC)
        assert to_instant(received) == RECEIVED
        assert person.folder() in [name for _, _, name in client.list_sub_folders()]


def test_a_confirmation_that_was_lost_repeats_nothing(person):
    matches = [person.match(n) for n in range(3)]
    person.deliver(*matches)
    person.delivered.clear()
    assert person.deliver(*matches) == ("delivered", ["present"] * 3)
    assert len(person.content()) == 3


def test_a_process_that_ends_before_it_confirms_repeats_nothing(person):
    class EndOfProcessError(BaseException):
        pass

    def end(confirmation):
        raise EndOfProcessError

    matches = [person.match(n) for n in range(2)]
    person.confirm, confirm = end, person.confirm
    with pytest.raises(EndOfProcessError):
        person.deliver(*matches)
    person.confirm = confirm
    assert person.deliver(*matches) == ("delivered", ["present", "appended"])
    assert person.content() == [mail(0), mail(1)]


def test_the_search_by_message_id_is_exact(person):
    person.deliver(person.match("11"), person.match("1@x.org> <2"))
    assert person.deliver(person.match("1"), person.match("2")) == ("delivered", ["appended"] * 2)


@pytest.mark.parametrize("head", ["", "Message-ID: none of\r\n yours\r\n", "Message-ID: <>\r\n"])
def test_messages_without_a_message_id_are_known_by_their_bytes(person, head):
    raws = [f"{head}Subject: {n}\r\n\r\nof one size".encode() for n in range(3)]
    matches = [person.match(f"{n}{len(head)}", raw=raw) for n, raw in enumerate(raws)]
    assert person.deliver(*matches[:2]) == ("delivered", ["appended"] * 2)
    person.delivered.clear()
    assert person.deliver(*matches) == ("delivered", ["present", "present", "appended"])


def test_what_leaves_a_live_list_is_moved_and_comes_back(person, dovecot):
    person.deliver(person.match(1), person.match(2))
    with dovecot.session() as client:
        client.select_folder(person.folder())
        client.add_flags([1], [b"\\Flagged"])
        client.add_flags([2], [b"\\Deleted"])  # another's: it is not expunged
    assert person.deliver(person.match(1, "delete")) == ("delivered", ["moved"])
    assert (person.content(), person.content("Left")) == ([mail(2)], [mail(1)])
    assert person.deliver(person.match(1, "delete")) == ("delivered", ["untouched"])
    assert person.deliver(person.match(1)) == ("delivered", ["moved_back"])
    assert (person.content(), person.content("Left")) == ([mail(1), mail(2)], [])
    with dovecot.session() as client:
        client.select_folder(person.folder())
        (uid,) = client.search(["FLAGGED"])
        assert client.get_flags([uid])[uid][0] == b"\\Flagged"


@pytest.mark.parametrize("uidplus", [True, False])
def test_a_server_without_move_gets_a_copy_and_expunges_no_other(person, monkeypatch, uidplus):
    has_capability = IMAPClient.has_capability
    missing = {"MOVE"} if uidplus else {"MOVE", "UIDPLUS"}
    monkeypatch.setattr(
        IMAPClient,
        "has_capability",
        lambda client, name: name not in missing and has_capability(client, name),
    )
    n = f"uidplus {uidplus}"
    other = mail(f"other {uidplus}")
    person.deliver(person.match(n), person.match(f"other {uidplus}"))
    with person.server.session() as client:
        client.select_folder(person.folder())
        client.add_flags(client.search(["SUBJECT", "other"]), [b"\\Deleted"])
    before = person.content("Left") or []
    assert person.deliver(person.match(n, "delete")) == ("delivered", ["moved"])
    assert other in person.content()
    assert (mail(n) in person.content()) == (not uidplus)  # marked as deleted there
    assert person.content("Left") == sorted([*before, mail(n)])
    assert person.deliver(person.match(n, "delete")) == ("delivered", ["untouched"])
    assert person.content("Left") == sorted([*before, mail(n)])
    assert person.deliver(person.match(n)) == ("delivered", ["moved_back"])
    assert person.deliver(person.match(n)) == ("delivered", ["present"])


def test_what_a_person_has_moved_or_deleted_stays_so(person, dovecot):
    person.deliver(person.match(1), person.match(2))
    with dovecot.session() as client:
        client.select_folder(person.folder())
        client.move([1], "INBOX")
        client.delete_messages([2])
        client.uid_expunge([2])
    again = [person.match(n, op) for op in ("insert", "delete", "insert") for n in (1, 2)]
    assert person.deliver(*again) == ("delivered", ["untouched"] * 6)
    assert (person.content(), person.content("Left")) == ([], None)


def test_a_folder_that_a_person_deleted_is_made_again_for_new_mail(person, dovecot):
    person.deliver(person.match(1))
    with dovecot.session() as client:
        client.delete_folder(person.folder())
    assert person.deliver(person.match(1), person.match(2)) == (
        "delivered",
        ["untouched", "appended"],
    )
    assert person.content() == [mail(2)]


@pytest.mark.parametrize(
    "name", ["Größe & Maß", "a/b", "x.org", "100 % *", "~", "..", 'quo"ted\\', "日本 語", " \n "]
)
def test_a_filter_may_have_any_name(dovecot, name):
    person = Person(dovecot, name)
    assert person.deliver(person.match(1), person.match(1, "delete")) == (
        "delivered",
        ["appended", "moved"],
    )
    person.delivered.clear()
    assert person.deliver(person.match(1)) == ("delivered", ["moved_back"])


def test_the_folder_of_a_filter_is_renamed_with_all_it_holds(person, dovecot):
    person.deliver(person.match(1), person.match(2), person.match(1, "delete"))
    old, person.name = person.name, "the new x.org"
    with open_mailbox(person.account, person.settings) as mailbox:
        assert not mailbox.rename_filter("none of this name", "another")
        assert mailbox.rename_filter(old, person.name)
        assert not mailbox.rename_filter(old, person.name)
    person.name = "the new x․org"  # the server takes no full stop
    assert (person.content(), person.content("Left")) == ([mail(2)], [mail(1)])
    with dovecot.session() as client:
        subscribed = [name for _, _, name in client.list_sub_folders()]
        assert person.folder("Left") in subscribed
        assert f"Tapestry/{old}" not in subscribed
    person.name = "the new x.org"
    assert person.deliver(person.match(1), person.match(2, "delete")) == (
        "delivered",
        ["moved_back", "moved"],
    )


def test_the_parent_is_a_setting(person, dovecot):
    person.settings = MailboxSettings("Mail/Found")
    person.deliver(person.match(1))
    with dovecot.session() as client:
        assert client.folder_exists(f"Mail/Found/{person.name}")


def test_a_server_with_a_prefix_and_a_dot():
    with running_dovecot(prefix="INBOX.") as server:
        person = Person(server, "lunch")
        assert person.deliver(person.match(1), person.match(1, "delete")) == (
            "delivered",
            ["appended", "moved"],
        )
        with server.session() as client:
            assert client.folder_exists("INBOX.Tapestry.lunch.Left")
        with open_imap(person.account) as session:
            names = ["INBOX", "INBOX.Tapestry.lunch.Left"]
            assert session.expand(names, hidden=["Tapestry"]) == ["INBOX"]


def test_a_full_mailbox_is_tried_again_and_says_so():
    with running_dovecot(quota="storage=20K") as server:
        person = Person(server, "lunch")
        large = {n: mail(n, "x" * 70 + "\r\n" * 4000) for n in (1, 2, 3)}
        matches = [person.match(n, raw=raw) for n, raw in large.items()]
        assert person.deliver(*matches) == ("retry", ["appended", "appended"])
        assert person.outcome.answer == (
            f"The mailbox of {USER} at 127.0.0.1 is full. Delete something there; what waits is "
            "put in then. 2 messages were put in."
        )
        with server.session() as client:
            client.select_folder(person.folder())
            client.delete_messages([1])
            client.expunge()
        assert person.deliver(*matches) == ("delivered", ["untouched", "present", "appended"])


def test_a_message_that_is_too_large_is_left_out_and_the_others_go_on():
    with running_dovecot(quota="storage=1M") as server:
        person = Person(server, "lunch")
        matches = [
            person.match(1, raw=mail(1, "x" * 60_000)),
            person.match(2),
        ]
        assert person.deliver(*matches) == ("delivered", ["skipped", "appended"])
        assert "“no. 1”: 127.0.0.1 refuses it" in person.outcome.answer
        assert person.content() == [mail(2)]


def test_what_is_no_longer_stored_is_left_out(person):
    gone, there = person.match(1), person.match(2)
    del person.originals["1@x.org"]
    assert person.deliver(gone, there) == ("delivered", ["skipped", "appended"])
    assert person.outcome.answer.endswith("1 message was left out. “no. 1”: Its original is no "
                                          "longer stored.")  # fmt: skip


def test_a_refused_login_and_an_unreachable_server(person):
    right = person.account
    person.account = replace(right, secret="wrong")
    assert person.deliver(person.match(1)) == ("refused", [])
    assert "refused the user name or password" in person.outcome.answer
    person.account = replace(right, port=1)
    assert person.deliver(person.match(1)) == ("retry", [])
    assert "cannot be reached" in person.outcome.answer


def test_an_error_of_the_tables_is_not_blamed_on_the_server(person):
    batch = Batch("key", 0, 1, (person.match(1),))

    def broken(msgid, audience):
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        deliver_to_mailbox(person.account, person.settings, batch, broken, person.confirm)


def test_the_settings_are_tested_without_a_trace(person, dovecot):
    with open_mailbox(person.account, MailboxSettings("Nowhere")) as mailbox:
        assert mailbox.folders.parent == "Nowhere"
    with dovecot.session() as client:
        assert not client.folder_exists("Nowhere")
    with (
        pytest.raises(TapestryError, match="refused"),
        open_mailbox(replace(person.account, secret="wrong"), MailboxSettings()),
    ):
        pass


def test_a_connection_cut_between_append_and_answer_repeats_nothing(dovecot, person):
    proxy = CuttingProxy(dovecot.port)
    try:
        person.account = account_of(proxy.port)
        matches = [person.match(n) for n in range(3)]
        proxy.cut_at = b"APPENDUID"
        assert person.deliver(*matches) == ("retry", [])
        assert person.deliver(*matches) == ("delivered", ["present", "appended", "appended"])
        proxy.cut_at = b"COPYUID"
        assert person.deliver(person.match(0, "delete")) == ("retry", [])
        assert person.deliver(person.match(0, "delete")) == ("delivered", ["untouched"])
    finally:
        proxy.close()
    assert person.content() == [mail(1), mail(2)]
    assert person.content("Left") == [mail(0)]


@pytest.mark.parametrize("has_move", [True, False])
def test_a_connection_cut_anywhere_delivers_each_once(dovecot, monkeypatch, has_move):
    has_capability = IMAPClient.has_capability
    monkeypatch.setattr(
        IMAPClient,
        "has_capability",
        lambda client, name: (has_move or name != "MOVE") and has_capability(client, name),
    )
    proxy = CuttingProxy(dovecot.port)
    try:
        total = _cut(dovecot, proxy, f"never {has_move}", [])
        cuts = range(total // 20, total, total // 20)
        assert len(cuts) >= 19
        for cut in cuts:
            _cut(dovecot, proxy, f"at {cut} {has_move}", [cut])
    finally:
        proxy.close()


def _cut(server, proxy, name, cuts):
    """Deliver until all is confirmed, and check it; return the bytes that the server sent."""
    person = Person(server, name, proxy.port)
    changes = [("insert", 1), ("insert", 2), ("delete", 1), ("insert", 3), ("delete", 2)]
    waiting = [person.match(n, op) for op, n in changes]
    proxy.cuts, proxy.passed = cuts, 0
    while waiting:
        _state, done = person.deliver(*waiting)
        del waiting[: len(done)]
    assert (person.content(), person.content("Left")) == ([mail(3)], [mail(1), mail(2)])
    return proxy.passed


def test_what_was_delivered_is_not_taken_in_again(person, dovecot, tmp_path):
    person.deliver(person.match(1))
    with dovecot.session() as client:
        client.create_folder("Kept")
        client.select_folder(person.folder())
        client.move(client.search(), "Kept")
    target = IngestTarget(Tables(tmp_path), MemoryClock(), "user:alice")
    (report,) = pull_account(person.account, ["Kept"], target, InMemorySyncStates())
    assert report.tally == Tally(skipped=1)
