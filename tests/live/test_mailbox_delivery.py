"""Delivery into a real mailbox: folders, flags, once only, moved and never deleted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import pytest
from imapclient import IMAPClient

from tapestry.core.clock import to_instant
from tapestry.core.errors import TapestryError
from tapestry.deliver.ways.mailbox import MailboxSettings, open_mailbox
from tapestry.ingest.imap.session import open_imap
from tapestry.ingest.ingest_batch import Tally
from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.imap import DELIVERED_KEYWORD
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import copies
from tapestry.tables.read.originals import original
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target
from tests.support.people.mailbox_person import RECEIVED, Person, mail
from tests.support.servers.dovecot import running_dovecot

pytestmark = pytest.mark.live


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


def test_two_messages_with_one_message_id_are_both_put_in(person):
    raws = [b"Message-ID: <7@x.org>\r\n\r\n" + text for text in (b"forged", b"genuine")]
    key = f"7@x.org copy:{'0' * 32}"
    first = person.match(7, raw=raws[0])
    other = replace(first, msgid=key, sequence=first.sequence + 1)
    person.originals[key], person.sequence = raws[1], other.sequence
    for _ in range(2):
        person.delivered.clear()
        person.deliver(first, other)
        assert person.content() == sorted(raws)
    person.deliver(replace(other, op="delete"))
    assert (person.content(), person.content("Left")) == ([raws[0]], [raws[1]])


def test_a_forged_message_that_was_put_in_keeps_no_other_out(person):
    raws = [b"Message-ID: <7@x.org>\r\n\r\n" + text for text in (b"genuine", b"forged")]
    key = f"7@x.org copy:{'0' * 32}"
    first = person.match(7, raw=raws[0])
    other = replace(first, msgid=key)
    person.originals[key], person.shared = raws[1], {first.msgid, key}
    assert person.deliver(other) == ("delivered", ["appended"])
    for action in ("appended", "present"):
        person.delivered.clear()
        assert person.deliver(first) == ("delivered", [action])
        assert person.content() == sorted(raws)
    person.deliver(replace(first, op="delete"))
    assert (person.content(), person.content("Left")) == ([raws[1]], [raws[0]])


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


def test_what_was_delivered_is_not_taken_in_again(person, dovecot, tmp_path):
    person.deliver(person.match(1))
    with dovecot.session() as client:
        client.create_folder("Kept")
        client.select_folder(person.folder())
        client.move(client.search(), "Kept")
    target = ingest_target(Tables(tmp_path), MemoryClock(), "user:alice")
    (report,) = pull_account(person.account, ["Kept"], target, InMemorySyncStates())
    assert report.tally == Tally(skipped=1)


def test_a_copy_has_the_flags_that_the_message_had_when_it_was_pulled(person, dovecot, tmp_path):
    dovecot.put("Flags", mail(1))
    had = [rb"\Flagged", rb"\Answered", rb"\Seen", rb"\Draft", rb"\Deleted", b"todo", b"$Junk"]
    tables = Tables(tmp_path)
    with dovecot.session() as client:
        client.select_folder("Flags")
        client.set_flags([1], had)
        target = ingest_target(tables, MemoryClock(), "user:alice")
        list(pull_account(person.account, ["Flags"], target, InMemorySyncStates()))
        client.set_flags([1], [b"later"])

    def original_of(msgid, audience):
        [copy] = copies(tables, msgid, ["user:alice"])
        return original(tables, msgid, copy)

    person.original_of = original_of
    assert person.deliver(person.match(1)) == ("delivered", ["appended"])
    with dovecot.session() as client:
        client.select_folder(person.folder(), readonly=True)
        [flags] = client.get_flags([1]).values()
    kept = {rb"\Flagged", rb"\Answered", b"todo", b"$Junk", DELIVERED_KEYWORD.encode()}
    assert set(flags) - {rb"\Recent"} == kept
