"""Messages that share a Message-ID: the same words are there once, other words beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapestry.core.message import Message
from tapestry.identity.content import content_hash, copy_key, is_copy, message_id_of
from tapestry.ingest.parse import parse
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.forget import forget
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.keys.tombstones import add_tombstones
from tapestry.tables.read.messages import copies, message
from tapestry.tables.read.originals import Original, original
from tapestry.tables.read.thread import thread
from tapestry.tables.write.append import Cursor, append_messages, cursor_of
from tapestry.tables.write.publish import publish
from tapestry.tables.write.staging import Staging
from tests.support.clocks import MemoryClock
from tests.support.faults.append_steps import STEPS, acting_after

PUBLIC = ("public",)

FORGED = Message("a@x", sender="joe@x.org", subject="Pay", body="Pay to account 666")
GENUINE = Message("a@x", sender="joe@x.org", subject="Pay", body="Pay to account 111")


@pytest.fixture
def tables(tmp_path) -> Tables:
    return Tables(tmp_path)


def rows(tables):
    """Every Message-ID, audience and content there is, each as often as it is there."""
    columns = ["msgid", "audience", "sender", "subject", "body"]
    stored = tables.open("messages").to_pyarrow_table(columns=columns).to_pylist()
    assert len({(row["msgid"], row["audience"]) for row in stored}) == len(stored)
    return sorted((message_id_of(r["msgid"]), r["audience"], r["body"] or "") for r in stored)


def key_of(mail):
    return copy_key(mail.msgid, content_hash(mail.sender, mail.subject, mail.body))


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_a_forged_message_takes_the_place_of_no_other(tables, together, indexed):
    clock, mail = MemoryClock(), [FORGED, GENUINE]
    raws = [Original(each.body.encode()) for each in mail]
    for batch in [slice(0, 2)] if together else [slice(0, 1), slice(1, 2)]:
        append_messages(tables, clock, mail[batch], originals=raws[batch])
        if indexed:
            extend_index(tables, "messages")
    assert message(tables, "a@x", PUBLIC).message.body == FORGED.body
    key = key_of(GENUINE)
    assert message(tables, key, PUBLIC).message.body == GENUINE.body
    assert original(tables, key, *copies(tables, key, PUBLIC)).raw == GENUINE.body.encode()
    for again in (mail, mail[::-1]):
        assert append_messages(tables, clock, again).added == 0


SAME = [
    ("Lunch", "At noon, Joe.\n> as ever\n"),
    (
        "[R] Lunch",
        "At noon, Joe.\nas\never\n____________\nR-devel mailing list\nhttps://x.org/listinfo/r\n",
    ),
    ("Re: [R] lunch", "At noon, Joe.\r\n> as ever\r\n\r\n-- \r\nYou can unsubscribe at x.org\r\n"),
    ("LUNCH", "At\u00a0noon, Joe.\nas ever\n-.-.-.-\nr-devel mailing list\n_._._._\n-- \nlistinfo"),
]


def test_copies_that_lists_and_archives_have_changed_are_the_same(tables):
    clock = MemoryClock()
    for subject, body in SAME:
        for sender in ("joe@x.org", "Joe@X.org"):
            append_messages(
                tables, clock, [Message("a@x", None, sender, "", (), (), subject, body=body)]
            )
    assert len(rows(tables)) == 1
    hidden = [Message("b@x", body=f"write to {to} please") for to in ("j@x.org", "j at x.org")]
    scrubbed = [
        Message("c@x", body=f"URL: <https://x.org/pipermail/r/attachments/2007/{n}.pl>")
        for n in range(2)
    ]
    append_messages(tables, clock, hidden + scrubbed)
    assert len(rows(tables)) == 3


DIFFERENT = [
    {"sender": "eve@x.org"},
    {"subject": "Pay now"},
    {"body": "Pay to account 111 at noon"},
    {"body": "Pay to account 111\n-- \nand 666 to Eve"},
    {"body": None},
]


@pytest.mark.parametrize("change", DIFFERENT)
def test_what_says_something_else_is_another(tables, change):
    append_messages(tables, MemoryClock(), [GENUINE, replace(GENUINE, **change)])
    assert len(rows(tables)) == 2


def test_the_copies_for_an_audience_are_its_own(tables):
    clock = MemoryClock()
    append_messages(tables, clock, [FORGED])
    mine = replace(GENUINE, audience="user:ann")
    append_messages(tables, clock, [mine])
    assert message(tables, "a@x", ("user:ann",)).message.body == GENUINE.body
    assert len(rows(tables)) == 2


def test_answers_mean_the_first(tables):
    answer = Message("b@x", inreplyto="a@x", references=("a@x",), body="Done")
    append_messages(tables, MemoryClock(), [FORGED, GENUINE, answer])
    assert [entry.card.msgid for entry in thread(tables, "b@x", PUBLIC)] == ["a@x", "b@x"]
    assert [entry.card.msgid for entry in thread(tables, key_of(GENUINE), PUBLIC)] == [
        key_of(GENUINE)
    ]


def test_what_was_removed_for_its_age_stays_removed(tables):
    clock = MemoryClock()
    append_messages(tables, clock, [FORGED, GENUINE])
    forget(tables, clock, "public", clock.last + 1)
    assert append_messages(tables, clock, [GENUINE, FORGED]).added == 0
    assert rows(tables) == []


def test_a_copy_that_was_removed_stays_removed_while_the_first_is_there(tables):

    append_messages(tables, MemoryClock(), [FORGED])
    add_tombstones(tables.root, "public", [key_of(GENUINE)])
    assert append_messages(tables, MemoryClock(), [GENUINE]).added == 0


def test_a_copy_whose_first_was_lost_is_not_added_again(tables):
    """A data file was damaged, and all sources are read again."""
    lost = Tables(tables.root / "lost")
    append_messages(tables, MemoryClock(), [GENUINE, FORGED])
    kept = message(tables, key_of(FORGED), PUBLIC).message
    append_messages(lost, MemoryClock(), [kept])
    assert append_messages(lost, MemoryClock(), [FORGED, GENUINE]).added == 1
    assert len(rows(lost)) == 2


@pytest.mark.parametrize("batches", [[[0, 1, 0], [1, 2]], [[0], [0], [1]], [[0, 1, 2]]])
def test_an_import_adds_each_copy_with_another_content_once(tables, batches):
    mail = [FORGED, GENUINE, Message("a@x", body="a third")]
    clock = MemoryClock()
    for _ in range(2):
        with Staging.opened(tables, "box", "public") as staging:
            for number, batch in enumerate(batches):
                of_batch = [mail[n] for n in batch]
                raws = [Original(each.body.encode()) for each in of_batch]
                staging.add(of_batch, raws, Cursor("box", number))
            publish(staging, clock, pause=lambda _seconds: None)
        expected = {mail[n].body for batch in batches for n in batch}
        assert [body for _, _, body in rows(tables)] == sorted(expected)
        for key in {row["msgid"] for row in tables.open("messages").to_pyarrow_table().to_pylist()}:
            stored = message(tables, key, PUBLIC).message
            assert original(tables, key, *copies(tables, key, PUBLIC)).raw == stored.body.encode()


def test_no_sender_can_choose_the_key_of_another():

    key = key_of(GENUINE)
    raw = f"Message-ID: <{key}>\nReferences: <{key}>\nSubject: Pay\n\nPay\n".encode()
    read = parse(raw).message
    assert not is_copy(read.msgid) and not any(map(is_copy, read.references))


class CrashError(Exception):
    """The process dies here."""


def crash():
    raise CrashError


@settings(max_examples=20, deadline=None)
@given(
    mail=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(["public", "user:ann"])),
        min_size=1,
        max_size=20,
    ),
    cuts=st.lists(st.integers(1, 6), min_size=1),
    crashes=st.lists(st.sampled_from([*STEPS, None])),
    footers=st.lists(st.booleans(), min_size=1),
)
def test_each_content_of_each_message_id_is_there_once_for_each_audience(
    tmp_path_factory, mail, cuts, crashes, footers
):
    """In any batches, in any order, with crashes and repeats."""
    tables, clock = Tables(tmp_path_factory.mktemp("law")), MemoryClock()
    turn = start = 0
    footer = "\n_______\nR mailing list\n"
    messages = [
        Message(f"m{n}", body=f"text {c}{footer * footers[i % len(footers)]}", audience=audience)
        for i, (n, c, audience) in enumerate(mail)
    ]
    while start < len(mail):
        end = start + cuts[turn % len(cuts)]
        batch = messages[start:end]
        step = crashes[turn] if turn < len(crashes) else None
        turn += 1
        raws = [Original(b"")] * len(batch)
        try:
            with acting_after(step, crash, clock) as crashing:
                append_messages(tables, crashing, batch, Cursor("s", end), originals=raws)
        except CrashError:
            reached = cursor_of(tables, "s")
            start = reached.version if reached else 0
        else:
            start = end
        if turn % 3 == 0:
            extend_index(tables, "messages")
    append_messages(tables, clock, messages[::-1])
    found = [(msgid, audience, body.partition("\n")[0]) for msgid, audience, body in rows(tables)]
    assert sorted(found) == sorted({(f"m{n}", audience, f"text {c}") for n, c, audience in mail})
