"""The auditor finds what a mail program must not be told by IMAP or JMAP, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

HOUR = 3_600_000_000
BEGIN = 480_000 * HOUR
ONE, TWO, THREE = ("m1", "public"), ("m2", "public"), ("m3", "public")


def mailbox(
    story: Story, page: str, name: str, next_uid: int, *rows: Any, settled: bool = True
) -> None:
    """Have a mail program read a mailbox of alice."""
    told = {"person": "alice", "mailbox": name or page, "page": page, "name": name}
    told |= {"uid_validity": 7, "next_uid": next_uid, "rows": [[n, *c, *f] for n, c, *f in rows]}
    story.tell("seen", kind="imap", **told) if settled else story.tell("imap", **told)


def right_story() -> Story:
    """A filter of everything, read by IMAP before and after one message of it was starred, done."""
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size = 1")
    for number, (msgid, _) in enumerate((ONE, TWO, THREE)):
        story.mail(BEGIN + number, {"msgid": msgid})
        story.match(1, msgid, BEGIN + number, read_at=BEGIN if msgid == "m1" else None)
    mailbox(story, "inbox", "", 3, (1, ONE, True, False), (2, TWO, False, False), settled=False)
    story.settle(BEGIN + HOUR)
    rows = (1, ONE, True, False), (2, TWO, False, False), (3, THREE, False, False)
    mailbox(story, "inbox", "", 4, *rows)
    mailbox(story, "filter", "f1", 4, *rows)
    for kind, msgid in (("star", "m2"), ("done", "m3")):
        story.now += HOUR
        told = {"kind": kind, "msgids": [msgid], "step_made": [kind]}
        story.tell("act", person="alice", status=200, **told)
    story.settle(BEGIN + 5 * HOUR)
    mailbox(story, "inbox", "", 4, rows[0], (2, TWO, False, True))
    mailbox(story, "shelf", "starred", 2, (1, TWO, False, True))
    mailbox(story, "shelf", "done", 2, (1, THREE, False, False))
    return story


def found(story: Story) -> list[str]:
    return [str(finding) for finding in judge(story.entries)]


def test_nothing_is_found_in_mailboxes_that_have_what_is_in_the_lists() -> None:
    assert found(right_story()) == []


def by_jmap(story: Story, *rows: Any, changed: tuple[str, ...] = (), gone: str = "") -> None:
    """Have a program read the inbox of alice by JMAP."""
    told = {"person": "alice", "mailbox": "INBOX", "page": "inbox", "name": "", "validity": 7}
    told |= {"changed": {"changed": [*changed], "gone": [gone]}, "state": "7.1"}
    rows_told = [[name, *copy, *flags] for name, copy, *flags in rows]
    story.tell("seen", kind="jmap", **told, rows=rows_told)


def found_by_jmap(*rows: Any, changed: tuple[str, ...] = (), gone: str = "") -> list[str]:
    """Return what is found if a program reads the inbox again after a message was starred."""
    story = Story()
    story.person("alice")
    for key in (1, 2):
        story.filter(key, "alice", "m.size = 1")
    story.mail(BEGIN, {"msgid": "m1"})
    for key in (1, 2):
        story.match(key, "m1", BEGIN)
    story.settle(BEGIN + HOUR)
    by_jmap(story, ("e1", ONE, False, False))
    told = {"kind": "star", "msgids": ["m1"], "step_made": ["star"], "person": "alice"}
    story.tell("act", status=200, **told)
    story.matches[0]["read_at"] = BEGIN + HOUR
    story.settle(BEGIN + 2 * HOUR)
    by_jmap(story, *rows, changed=changed, gone=gone)
    return found(story)


def test_nothing_is_found_in_emails_that_are_as_the_lists_and_whose_changes_are_told() -> None:
    assert found_by_jmap(("e1", ONE, False, True), changed=("e1",)) == []
    assert found_by_jmap(("e2", ONE, False, True)) == []


@pytest.mark.parametrize(
    ("row", "more", "said"),
    [
        (("e1", ONE, False, True), {}, "m1 has changed, and nothing says so"),
        (("e1", ONE, True, True), {"changed": ("e1",)}, "m1 is read"),
        (("e1", ONE, False, False), {}, "m1 is not starred"),
        (("e1", TWO, False, False), {}, "e1 is m2, and was m1"),
        (("e2", ONE, False, True), {"gone": "e2"}, "m1 is there, and is said to be gone"),
    ],
)
def test_each_fault_of_emails_is_found(row: Any, more: Any, said: str) -> None:
    assert any("mail programs" in one and said in one for one in found_by_jmap(row, **more))


def told(story: Story) -> list[dict[str, Any]]:
    return [entry for entry in story.entries if "imap" in (entry["what"], entry.get("kind"))]


def has(number: int, next_uid: int, *rows: Any) -> Callable[[Story], None]:
    """Return what has a mailbox have other messages."""

    def corrupt(story: Story) -> None:
        of_program = [[uid, *copy, *flags] for uid, copy, *flags in rows]
        told(story)[number].update(next_uid=next_uid, rows=of_program)

    return corrupt


FIRST, SECOND, THIRD = (1, ONE, True, False), (2, TWO, False, False), (3, THREE, False, False)

CORRUPTIONS = {
    "a message is missing": (has(2, 4, FIRST, SECOND), "f1 of alice: it lacks m3"),
    "a message is there that is done": (
        has(3, 5, FIRST, (2, TWO, False, True), THIRD),
        "inbox of alice: it has m3, which is not to be there",
    ),
    "a message is there twice": (
        has(1, 5, FIRST, SECOND, THIRD, (4, ONE, True, False)),
        "there twice",
    ),
    "a UID is given again": (has(1, 4, (1, TWO, False, False), SECOND, THIRD), "1 is m2, and was"),
    "a UID is below the next": (has(0, 4, FIRST, SECOND), "m3 is new as 3, below 4"),
    "the next UID is given already": (has(1, 3, FIRST, SECOND, THIRD), "the next is said to be 3"),
    "what is unread is seen": (
        has(2, 4, FIRST, (2, TWO, True, False), THIRD),
        "f1 of alice: m2 is read",
    ),
    "what is read is not seen": (has(2, 4, (1, ONE, False, False), SECOND, THIRD), "m1 is unread"),
    "what is starred is not flagged": (has(3, 4, FIRST, SECOND), "m2 is not starred"),
    "what is flagged has no star": (
        has(2, 4, FIRST, SECOND, (3, THREE, False, True)),
        "m3 is starred",
    ),
    "a shelf lacks what is on it": (has(4, 2), "starred of alice: it lacks m2"),
    "a shelf has what is not on it": (
        has(5, 3, (1, THREE, False, False), (2, ONE, True, False)),
        "done of alice: it has m1",
    ),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_each_corruption_of_a_mailbox_is_found(name: str) -> None:
    corrupt, said = CORRUPTIONS[name]
    story = right_story()
    corrupt(story)
    assert any("mail programs" in sentence and said in sentence for sentence in found(story))
