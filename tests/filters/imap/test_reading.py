"""Lists as mailboxes: what a mail program finds, reads and is told of while it waits."""

from __future__ import annotations

from datetime import date

import pytest
from django.db.models import Model
from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientError

from filters.imap import folders
from filters.imap.folders import forget_uids
from filters.imap.models import ImapFolder
from filters.inbox.models import Match
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target, act
from filters.people.models import User
from filters.reading.annotations import opinions
from filters.reading.annotations.changes import said_by
from filters.reading.annotations.keywords import keywords
from filters.reading.annotations.outbox import annotate, append_outbox
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.annotations import standing
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.filters.imap.conftest import Program
from tests.support.answers.tokens import ENDINGS, end_all
from tests.support.lists.listed_mail import find, installed, letters

pytestmark = pytest.mark.live

TAG = {"kind": "tag", "number": None, "private": True, "take_back": ""}

RAW = b"""\
From: Mary Jones <mary@example.org>
To: alice@example.org
Subject: The plan
Date: Mon, 2 Feb 2026 10:00:00 +0000
Message-ID: <plan@x>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain; charset=utf-8

Shall we meet on Tuesday?
--b
Content-Type: application/pdf; name="plan.pdf"
Content-Transfer-Encoding: base64

UERG
--b--
"""

HOSTILE = [
    b"",
    b"\0\0\0",
    b"Subject: =?utf-8?q?=ff=fe?=\nFrom: <<<>>>@@\nTo: ,,,;;:\nDate: never\n\n\r\r\r",
    b'Content-Type: multipart/mixed; boundary=""\n\n--\n--\n----\n',
    b"Content-Type: multipart/x; boundary=a\n\n"
    + b"--a\nContent-Type: multipart/x; boundary=a\n\n" * 300,
    b"Content-Type: message/rfc822\n\n" * 200 + b"x",
    b"Subject: " + b"x" * 200_000 + b"\n\n" + b"y" * 200_000,
    b"From: " + b"a:" * 20_000 + b"\nTo: " + b"(" * 20_000 + b"\n\nx",
    b"From: a@b\nSubject: a\r\nSubject: b\n" + bytes(range(256)),
]


def put(tables: Tables, msgid: str, raw: bytes, audience: str = "public") -> None:
    """Append a message with its original."""
    message = Message(msgid, sender="mary@example.org", subject=f"About {msgid}", audience=audience)
    append_messages(tables, DjangoClock(), [message], originals=[Original(raw)])


def test_the_mailboxes_of_a_person_are_listed(program: Program, alice: User, bob: User) -> None:
    installed(alice, "plans")
    installed(bob, "secrets")
    client = program(alice)
    listed = [name for _, _, name in client.list_folders()]
    assert listed == ["INBOX", "Starred", "Done", "Filters", "Filters/plans"]
    with pytest.raises(IMAPClientError, match="does not exist"):
        client.select_folder("Filters/secrets")
    assert client.folder_status("INBOX", "MESSAGES") == {b"MESSAGES": 0}


def test_a_message_is_read_as_it_came(program: Program, alice: User, tables: Tables) -> None:
    filter_ = installed(alice, "plans")
    put(tables, "plan@x", RAW)
    letters(tables, "no-original@x")
    find(tables, filter_, "plan@x", "no-original@x")
    client = program(alice)
    selected = client.select_folder("Filters/plans")
    assert (selected[b"EXISTS"], selected[b"UIDNEXT"]) == (2, 3)
    assert set(selected[b"PERMANENTFLAGS"]) == {b"\\Seen", b"\\Flagged", b"\\*"}
    assert set(selected[b"FLAGS"]) == {b"\\Seen", b"\\Flagged", b"\\Recent"}
    row, empty = client.fetch(
        [1, 2], ["ENVELOPE", "BODYSTRUCTURE", "BODY.PEEK[]", "RFC822.SIZE", "BODY.PEEK[1]"]
    ).values()
    raw = RAW.replace(b"\n", b"\r\n")
    assert row[b"BODY[]"] == raw and row[b"RFC822.SIZE"] == len(raw)
    assert row[b"BODY[1]"].strip() == b"Shall we meet on Tuesday?"
    assert row[b"ENVELOPE"].subject == b"The plan"
    assert row[b"ENVELOPE"].from_[0].mailbox == b"mary"
    assert row[b"BODYSTRUCTURE"].is_multipart
    assert b"not kept" in empty[b"BODY[]"]
    assert client.search(["UNSEEN"]) == [1, 2] and client.search(["SUBJECT", "plan"]) == [1]
    assert client.search(["TEXT", "tuesday"]) == [1]
    assert client.search(["SINCE", date(2026, 1, 1)]) == [1, 2]
    assert not client.search(["SUBJECT", "Zürich"], "UTF-8")


def test_hostile_messages_cost_nobody_else_anything(
    program: Program, alice: User, tables: Tables
) -> None:
    filter_ = installed(alice, "plans")
    for number, raw in enumerate([*HOSTILE, RAW]):
        put(tables, f"{number}@x", raw)
    find(tables, filter_, *(f"{number}@x" for number in range(len(HOSTILE) + 1)))
    client = program(alice)
    client.select_folder("Filters/plans", readonly=True)
    rows = client.fetch(range(1, len(HOSTILE) + 2), ["BODY.PEEK[]", "RFC822.SIZE"])
    assert len(rows) == len(HOSTILE) + 1
    assert all(len(row[b"BODY[]"]) == row[b"RFC822.SIZE"] for row in rows.values())
    for uid in rows:
        client._imap.uid("FETCH", str(uid), "(ENVELOPE BODYSTRUCTURE BODY.PEEK[1.MIME])")
    assert client.search(["SUBJECT", "The plan"]) == [len(rows)]


def wait_for(client: IMAPClient, told: tuple[object, ...]) -> None:
    """Wait until a program that waits is told something, among other things."""
    while told not in (heard := client.idle_check(timeout=60)):
        assert heard


def test_what_is_new_is_told_while_a_program_waits(
    program: Program, alice: User, tables: Tables
) -> None:
    filter_ = installed(alice, "plans")
    letters(tables, "a@x", "b@x")
    find(tables, filter_, "a@x")
    client = program(alice)
    client.select_folder("Filters/plans")
    client.idle()
    find(tables, filter_, "b@x")
    wait_for(client, (2, b"EXISTS"))
    Match.objects.filter(msgid="a@x").update(retracted_at=9)
    wait_for(client, (1, b"EXPUNGE"))
    client.idle_done()
    assert client.search() == [2]
    Match.objects.filter(msgid="a@x").update(retracted_at=None)
    client.noop()
    assert client.search() == [2, 3]  # one that comes back is a new one


def test_flags_go_both_ways(program: Program, alice: User, tables: Tables) -> None:
    filter_ = installed(alice, "plans")
    letters(tables, "a@x", "b@x")
    find(tables, filter_, "a@x", "b@x")
    client = program(alice)
    client.select_folder("Filters/plans")
    client.add_flags([1], ["\\Seen", "\\Flagged", "\\Answered", "$Label1"])
    assert client.get_flags([1]) == {1: (b"\\Flagged", b"\\Seen")}
    assert Match.objects.get(msgid="a@x").read_at is not None
    assert alice.message_states.get(msgid="a@x").starred_at is not None
    act(alice, ACTIONS["unstar"], [Target("a@x", "public", "")])
    act(alice, ACTIONS["read"], [Target("b@x", "public", "")])
    assert client.get_flags([1, 2]) == {1: (b"\\Seen",), 2: (b"\\Seen",)}
    client.set_flags([1], ["\\Flagged"], silent=True)
    assert client.get_flags([1]) == {1: (b"\\Flagged",)}
    assert Match.objects.get(msgid="a@x").read_at is None
    client.fetch([1], ["BODY[]"])
    assert Match.objects.get(msgid="a@x").read_at is not None
    client.select_folder("Starred")
    assert client.search(["FLAGGED"]) == [1]
    act(alice, ACTIONS["done"], [Target("b@x", "public", "")])
    assert client.folder_status("Filters/plans", "MESSAGES") == {b"MESSAGES": 1}
    assert client.folder_status("Done", ["MESSAGES", "UNSEEN"]) == {b"MESSAGES": 1, b"UNSEEN": 0}


def test_tags_are_keywords_both_ways(
    program: Program, alice: User, bob: User, tables: Tables
) -> None:
    letters(tables, "a@x", "b@x", "c@x")
    find(tables, installed(alice, "plans"), "a@x", "b@x", "c@x")
    annotate(bob, "a@x", "public", "tag", value="Bobs")
    annotate(alice, "a@x", "public", "tag", value="Later")
    annotate(alice, "a@x", "public", "tag", value="to do")
    client, other = program(alice), program(alice)
    client.select_folder("INBOX")
    other.select_folder("INBOX")
    assert client.get_flags([1]) == {1: (b"Later",)}
    other.idle()
    client.add_flags([1, 2], ["todo", "later", "$Forwarded", "NonJunk"])
    wait_for(other, (1, b"FETCH", (b"FLAGS", (b"Later", b"todo"))))
    other.idle_done()
    append_outbox(tables)
    assert client.search(["KEYWORD", "todo"]) == [1, 2]
    assert client.search(["UNKEYWORD", "later"]) == [1, 3]  # of the first, it is spelt Later
    assert {"todo": "todo"}.items() <= keywords(alice)["b@x"].items()
    client.set_flags([1], ["\\Seen", "TODO"])
    assert client.get_flags([1]) == {1: (b"\\Seen", b"todo")}
    assert [row.value for row in standing(said_by(alice, "a@x"))] == ["to do", "todo"]
    opinions.keep(alice, "a@x", "public", {**TAG, "value": "TODO"})
    client.remove_flags([1], ["todo"])
    assert client.get_flags([1]) == {1: (b"\\Seen",)}, "however it is spelt"
    opinions.keep(alice, "c@x", "public", {**TAG, "value": "new"})
    opinions.keep(alice, "b@x", "public", {**TAG, "value": "", "take_back": "todo"})
    assert other.get_flags([2, 3]) == {2: (b"later",), 3: (b"new",)}


def test_many_messages_are_not_tagged_at_once(
    program: Program, alice: User, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MOST_TAGGED", 1)
    letters(tables, "a@x", "b@x")
    find(tables, installed(alice, "plans"), "a@x", "b@x")
    client = program(alice)
    client.select_folder("INBOX")
    with pytest.raises(IMAPClientError, match="At most 1 messages are tagged"):
        client.add_flags([1, 2], ["todo"])
    client.add_flags([2], ["todo"])
    assert client.get_flags([1, 2]) == {1: (), 2: (b"todo",)}


def test_what_is_to_be_shown_later_makes_nothing_unread(
    program: Program, alice: User, tables: Tables
) -> None:
    filters = installed(alice, "plans"), installed(alice, "evenings")
    letters(tables, "a@x")
    for filter_ in filters:
        find(tables, filter_, "a@x")
    act(alice, ACTIONS["read"], [Target("a@x", "public", "")])
    filters[1].matches.update(read_at=None, sequence=None, shown_at=wall_clock() + DAY)
    client = program(alice)
    client.select_folder("INBOX")
    assert client.get_flags([1]) == {1: (b"\\Seen",)}
    filters[1].matches.update(shown_at=wall_clock())
    assert client.get_flags([1]) == {1: ()}


def test_nothing_is_put_moved_or_deleted(program: Program, alice: User, tables: Tables) -> None:
    filter_ = installed(alice, "plans")
    letters(tables, "a@x")
    find(tables, filter_, "a@x")
    client = program(alice)
    client.select_folder("Filters/plans")
    for refused in (
        lambda: client.delete_messages([1]),
        lambda: client.copy([1], "INBOX"),
        lambda: client.append("INBOX", b"Subject: x\r\n\r\nx"),
        lambda: client.create_folder("Filters/new"),
        lambda: client.delete_folder("Filters/plans"),
        lambda: client.rename_folder("Filters/plans", "Filters/other"),
        lambda: client.unsubscribe_folder("Filters/plans"),
    ):
        with pytest.raises(IMAPClientError, match="CANNOT"):
            refused()
    client.expunge()
    client.close_folder()
    assert client.folder_status("Filters/plans", "MESSAGES") == {b"MESSAGES": 1}


def test_uids_are_of_one_person_and_stay(
    program: Program, alice: User, bob: User, tables: Tables
) -> None:
    letters(tables, "a@x", "b@x")
    put(tables, "own@x", RAW, "user:alice")
    find(tables, installed(alice, "plans"), "a@x", "b@x")
    find(tables, installed(alice, "own"), "own@x", audience="user:alice")
    find(tables, installed(bob, "plans"), "b@x")
    before = uids_of(program(alice))
    assert len(before) == 3
    assert uids_of(program(alice)) == before
    assert len(uids_of(program(bob))) == 1


def test_everybody_is_given_their_own_lists_alone(
    program: Program, alice: User, bob: User, carol: User, tables: Tables
) -> None:
    letters(tables, "public@x")
    put(tables, "hers@x", RAW, "user:alice")
    put(tables, "ours@x", RAW, "group:parc")
    for owner in (alice, bob, carol):
        filter_ = installed(owner, f"of-{owner}")
        for msgid, audience in ALL:
            find(tables, filter_, msgid, audience=audience)
    seen = {who.username: told_by_imap(program(who)) for who in (alice, bob, carol)}
    counts = {"alice": 3, "bob": 2, "carol": 1}
    for who, told in seen.items():
        shelves = {"INBOX": counts[who], "Starred": 0, "Done": 0}
        assert told == shelves | {f"Filters/of-{who}": counts[who]}
    for who in (bob, carol):
        client = program(who)
        for command in (client.select_folder, client.folder_status):
            with pytest.raises(IMAPClientError, match="does not exist"):
                command("Filters/of-alice")


ALL = (("public@x", "public"), ("hers@x", "user:alice"), ("ours@x", "group:parc"))


def told_by_imap(client: IMAPClient) -> dict[str, int]:
    """Return how many messages can be read in each mailbox that a program is told of."""
    counts = {}
    for flags, _, name in client.list_folders():
        if b"\\Noselect" not in flags:
            client.select_folder(name, readonly=True)
            uids = client.search()
            counts[name] = len(client.fetch(uids, ["BODY.PEEK[]"])) if uids else 0
    return counts


def test_after_a_restore_mailboxes_are_read_anew(
    program: Program, alice: User, tables: Tables
) -> None:
    letters(tables, "a@x")
    find(tables, installed(alice, "plans"), "a@x")
    before = uids_of(program(alice))
    ImapFolder.objects.update(uid_validity=before[0][0] - 60)
    forget_uids()
    (row,) = uids_of(program(alice))
    assert row[0] > before[0][0] - 60 and row[1] == 1


def uids_of(client: IMAPClient) -> list[tuple[int, int]]:
    selected = client.select_folder("INBOX", readonly=True)
    return [(selected[b"UIDVALIDITY"], uid) for uid in client.search()]


def test_a_message_that_is_no_longer_ones_own_to_see_is_gone(
    program: Program, alice: User, tables: Tables
) -> None:
    filter_ = installed(alice, "plans")
    put(tables, "a@x", RAW, "group:parc")
    find(tables, filter_, "a@x", audience="group:parc")
    client = program(alice)
    client.select_folder("Filters/plans")
    alice.groups.clear()
    assert b"Tuesday" not in client.fetch([1], ["BODY.PEEK[]"]).get(1, {}).get(b"BODY[]", b"")
    client.noop()
    assert client.search() == []


@pytest.mark.parametrize(("of", "changed"), ENDINGS)
def test_a_token_that_ends_ends_what_it_opened(
    program: Program, alice: User, tables: Tables, of: type[Model], changed: dict[str, int]
) -> None:
    filter_ = installed(alice, "plans")
    letters(tables, "a@x")
    waiting, reading = program(alice), program(alice)
    waiting.select_folder("INBOX")
    waiting.idle()
    end_all(of, changed)
    find(tables, filter_, "a@x")
    (told,) = waiting.idle_check(timeout=60)
    assert told[0] == b"BYE"
    with pytest.raises(IMAPClientError):
        reading.select_folder("INBOX")
