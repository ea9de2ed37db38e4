"""What somebody does with messages of their lists, and takes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from tests.simulation.generator import programs
from tests.simulation.generator.cast import Cast
from tests.simulation.world import MINUTE, SECOND, World

ACTIONS = (
    "done",
    "inbox",
    "star",
    "unstar",
    "read",
    "unread",
    "snooze",
    "unsnooze",
    "mute",
    "unmute",
    "pin",
    "unpin",
)
"""What somebody does with messages of a list."""

TWICE = (
    *(("star", "star"), ("done", "done"), ("star", "done")),
    *(("snooze", "done"), ("done", "snooze"), ("star", "mute")),
)
"""What somebody does with one message, and what later: the second finds what the first has set."""


def triage_steps(world: World, person: str) -> list[str]:
    """Return a person's steps that have come to something: the first part may have failed."""
    rows = world.select(
        "SELECT t.id FROM inbox_triagestep t JOIN people_user u ON u.id = t.owner_id"
        " WHERE u.username = ? AND t.count ORDER BY t.at, t.id",
        person,
    )
    return [str(UUID(row["id"])) for row in rows]


def act(cast: Cast, person: str, action: str, msgids: Sequence[str]) -> None:
    """Have somebody do something with messages of their lists: with the copies that are there."""
    fields = [(_field(cast, person, msgid), msgid) for msgid in msgids]
    before = triage_steps(cast.world, person)
    more: dict[str, Any] = {}
    if cast.has_program():
        copies = [(msgid, field.partition(":")[2]) for field, msgid in fields]
        answer, more = programs.act(cast, person, action, copies)
    else:
        sent = _form(cast, person, fields)
        if action == "snooze":
            sent["until"] = "tomorrow"
        answer = cast.request(person, "post", f"/triage/do/{action}/", sent)
    made = [step for step in triage_steps(cast.world, person) if step not in before]
    for step in made:
        cast.steps.setdefault(person, []).append(step)
    status = answer and answer["status"]
    told = {"person": person, "msgids": list(msgids), "status": status, "step_made": made}
    cast.history.add("act", kind=action, **told, **more)


def _form(cast: Cast, person: str, fields: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return what a form sends that names messages."""
    sent: dict[str, Any] = {}
    for field, msgid in fields:
        sent.setdefault(field, []).append(msgid)
    if cast.people[person].get("conversations"):  # a line names its messages in one field
        sent = {"conversation": urlencode(sent, doseq=True)}
    return sent


def _field(cast: Cast, person: str, msgid: str) -> str:
    """Return the field by which a form names the copy of a message in a list of a person."""
    rows = cast.world.select(
        "SELECT m.audience FROM inbox_match m JOIN authoring_filter f ON f.id = m.filter_id"
        " JOIN people_user u ON u.id = f.owner_id WHERE u.username = ? AND m.msgid = ?",
        person,
        msgid,
    )
    seen = {row["audience"] for row in rows}.intersection(cast.audiences_of(person))
    return f"id:{min(seen)}" if seen else "id"


def star_unlisted(cast: Cast) -> None:
    """Have somebody star, or unstar, a message that none of their filters has found."""
    lots, person = cast.lots, cast.lots.choice(cast.names)
    listed, seen = set(cast.listed(person)), cast.audiences_of(person)
    rows = [row for row in cast.mail.rows if row["audience"] in seen]
    others = sorted({row["msgid"] for row in rows} - listed)
    if others:
        action = lots.choice(("star", "star", "unstar"))
        starred = [msgid for msgid in others if msgid in cast.starred.setdefault(person, [])]
        msgid = lots.choice(starred if starred and action == "unstar" else others)
        act(cast, person, action, [msgid])
        cast.starred[person].append(msgid)


def undo(cast: Cast, person: str, step: str) -> None:
    """Have somebody undo a step, though others have come after it."""
    cast.steps[person].remove(step)
    by_program = cast.has_program()
    where = ("delete", f"/acts/{step}") if by_program else ("post", f"/triage/undo/{step}/")
    answer = cast.call(person, *where) if by_program else cast.request(person, *where)
    status = answer and answer["status"]
    cast.history.add("act", person=person, kind="undo", of=step, status=status)


_UNREAD = """
SELECT f.id AS key, u.username AS person, m.msgid FROM inbox_match m
JOIN authoring_filter f ON f.id = m.filter_id JOIN people_user u ON u.id = f.owner_id
WHERE f.id IN (SELECT filter_id FROM inbox_match WHERE shown_at = 1 << 62)
    AND m.shown_at < 1 << 62 AND m.read_at IS NULL AND m.retracted_at IS NULL
ORDER BY f.id, m.msgid"""


def read_up(cast: Cast) -> None:
    """Have somebody read all of a filter that holds what it finds until then."""
    rows = cast.world.select(_UNREAD)
    if rows:
        one = cast.lots.choice(rows)
        msgids = [row["msgid"] for row in rows if row["key"] == one["key"]]
        act(cast, one["person"], "read", msgids)


def tidy(cast: Cast) -> None:
    """Have somebody deal with the same few messages again and again, and undo any of it."""
    lots = cast.lots
    person = lots.choice(cast.names)
    listed = cast.listed(person)
    if not listed:
        return
    if lots.random() < 0.6:
        for actions in lots.sample(TWICE, 2):
            _deal_twice(cast, person, lots.sample(listed, min(len(listed), 2)), actions)
        return
    few = lots.sample(listed, min(len(listed), 3))
    for _ in range(lots.choice((3, 5, 7))):
        steps = cast.steps.get(person, [])[-4:]
        if steps and lots.random() < 0.3:
            undo(cast, person, lots.choice(steps))
        elif lots.random() < 0.1:
            act(cast, person, "read", listed[-40:])
        else:
            act(cast, person, lots.choice(ACTIONS), lots.sample(few, lots.randint(1, len(few))))
        cast.world.pass_time(lots.choice((SECOND, MINUTE)))


def _deal_twice(cast: Cast, person: str, few: Sequence[str], actions: tuple[str, str]) -> None:
    """Have somebody do the first with a few messages, the second with one, and perhaps undo one."""
    first, second = actions
    for action, msgid in (*((first, msgid) for msgid in few), (second, few[0])):
        act(cast, person, action, [msgid])
        cast.world.pass_time(SECOND)
    steps = cast.steps.get(person, [])[-3:]
    if steps and cast.lots.random() < 0.8:
        undo(cast, person, cast.lots.choice((steps[0], steps[-1])))
