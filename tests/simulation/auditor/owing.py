"""Who owes an answer, and to whom one is owed: the lists of the first day, from their words.

asked in person, by a person, and of late ─ answered in person by the others, or by me ─> not there

An answer of a program, of who is away, is none.  What somebody said is settled is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.simulation.auditor.findings import Finding, short
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import ANNOTATIONS, MESSAGES
from tests.simulation.auditor.story import Known, Point

LAW = "owing"
OF_LATE = 8 * 7 * 86_400_000_000
WAITING = "from me asking a question unanswered by others, "
OWED = "(only to me or (directly to me and mentioning me)) and asking a question and unanswered by "

Row = dict[str, Any]


def judge_owing(point: Point, lives: dict[int, Life], known: Known) -> Iterator[Finding]:
    """Judge the two lists of each person who has them as they were given."""
    rows, filters = point.rows("matches"), point.rows("filters")
    if rows is None or filters is None or known.has_forgotten or _is_unclear(point):
        return
    until = {row["key"]: row["since"] for row in filters if row["active"] and not row["error"]}
    for key, life in lives.items():
        text = life.entry["text"]
        if key in until and life.entry["live"] and text.startswith((WAITING, OWED)):
            there = {
                (row["msgid"], row["audience"])
                for row in rows
                if row["filter"] == key and row["retracted_at"] is None
            }
            yield from _judge(point, life, known, there, until[key])


def _is_unclear(point: Point) -> bool:
    changes = ("person", "upkeep", "fault")
    kinds = ("restore", "clock_step")
    return any(
        entry["what"] in changes and entry.get("kind", kinds[0]) in kinds for entry in point.entries
    )


def _judge(
    point: Point, life: Life, known: Known, there: set[tuple[str, str]], until: int
) -> Iterator[Finding]:
    owner = life.entry["owner"]
    person, audiences = known.people[owner], known.audiences(owner)
    mine = {person["email"], *(person.get("aliases") or ())}
    seen = [
        row
        for (_, audience), row in known.rows[MESSAGES].items()
        if audience in audiences and row["ts"] <= until
    ]
    settled = {
        row["msgid"] for row in known.rows[ANNOTATIONS].values() if row["value"] == "settled"
    }
    replies = [row for row in seen if row["inreplyto"] and row["automatic"] is None]
    is_owed = life.entry["text"].startswith(OWED)
    answered = {row["inreplyto"] for row in replies if (row["sender"] in mine) == is_owed}

    def asks(row: Row) -> bool:
        in_person = row["list"] is None and not row["newsgroups"] and row["automatic"] is None
        late = row["received"] > until - OF_LATE
        return in_person and late and row["questions"] > 0 and row["msgid"] not in answered

    def is_theirs(row: Row, *, surely: bool) -> bool:
        if not is_owed:
            return row["sender"] in mine
        alone = {*row["to"]} <= mine and not row["cc"]
        return row["sender"] not in mine and bool(mine & {*row["to"]}) and (alone or not surely)

    listed = {msgid for msgid, _ in there}  # by one of its copies
    for row in seen:
        if row["msgid"] in settled:
            continue
        is_there = (row["msgid"], row["audience"]) in there
        said = f"the list “{life.entry['name']}” of {owner}"
        if is_there and not (asks(row) and is_theirs(row, surely=False)):
            yield Finding(LAW, f"{said} has {short(row)}, of which nobody waits", point.step)
        waits = asks(row) and is_theirs(row, surely=True)
        if waits and row["msgid"] not in listed and life.entry["t0"] is None:
            yield Finding(LAW, f"{said} lacks {short(row)}", point.step)
