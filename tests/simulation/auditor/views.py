"""What people find when they search, and what readers get of their feeds.

search ─> what matches now of all that a person may see, the newest first, the first of them here
feed ───> what was released to a filter, or to all of a person, and is in its list still: each once
message ─> is there for those who may see a copy of it, and for nobody else
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lists import PAGE, is_muted
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import MESSAGES
from tests.simulation.auditor.shelves import Desks
from tests.simulation.auditor.spans import holds
from tests.simulation.auditor.story import Entry, Known, Point
from tests.simulation.auditor.timelines import Timelines

LAW = "searches and feeds"
_WORD = re.compile(r"[^\W_]+")


def judge_views(
    point: Point, lives: dict[int, Life], known: Known, desks: Desks, timelines: Timelines
) -> Iterator[Finding]:
    """Judge every search and every feed that was looked at."""
    for look in point.seen.get("page", []):
        if look.get("status", 200) != 200:
            continue
        if look["page"] == "search":
            yield from _judge_search(point, look, known, timelines)
        elif look["page"] == "feed":
            yield from _judge_feed(point, look, lives, known, desks)
    for look in point.seen.get("letter", []):
        person, msgid = look["person"], look["msgid"]
        may_see = known.has_copy(msgid, known.audiences(person))
        if may_see is not (look["status"] < 400):
            said = f"{person} {'may' if may_see else 'may not'} see {msgid}, and it answers"
            yield Finding(LAW, f"{said} {look['status']}", point.step)


def _judge_search(
    point: Point, look: Entry, known: Known, timelines: Timelines
) -> Iterator[Finding]:
    clock = point.one("clock")
    at = max(look["now"], clock["last"] if clock else 0)
    audiences = known.audiences(look["person"])
    found = timelines.of(look["name"], audiences)
    wanted = {msgid for msgid, spans in found.items() if holds(spans, at)}
    shown, said = look["msgids"], f"{look['person']} searches for {look['name']} and"
    for msgid in shown:
        if msgid not in wanted and not _has_subject(known, msgid, audiences, look["name"]):
            yield Finding(LAW, f"{said} finds {msgid}, which does not match", point.step)
    if missing := sorted(wanted - set(shown)) if len(shown) < PAGE else []:
        yield Finding(LAW, f"{said} does not find {', '.join(missing)}", point.step)
    if len(set(shown)) < len(shown):
        yield Finding(LAW, f"{said} finds a message twice: {', '.join(shown)}", point.step)
    received = [_received(known, msgid, audiences) for msgid in shown]
    for one, other in pairwise(received):
        if max(one, default=0) < min(other, default=0):
            yield Finding(LAW, f"{said} finds it out of order: {', '.join(shown)}", point.step)
            return


def _has_subject(known: Known, msgid: str, audiences: frozenset[str], text: str) -> bool:
    """Tell whether a subject has the words of a search as they stand: these are found, too."""
    rows = [known.rows[MESSAGES].get((msgid, audience)) for audience in audiences]
    subjects = [str(row["subject"] or "") for row in rows if row is not None]
    words = f" {' '.join(_WORD.findall(text.lower()))} "
    return any(words in f" {' '.join(_WORD.findall(subject.lower()))} " for subject in subjects)


def _received(known: Known, msgid: str, audiences: frozenset[str]) -> list[int]:
    """Return when the copies of a message that somebody sees were received."""
    there = known.rows[MESSAGES]
    copies = (there.get((msgid, audience)) for audience in audiences)
    return [row["received"] for row in copies if row is not None]


def _judge_feed(
    point: Point, look: Entry, lives: dict[int, Life], known: Known, desks: Desks
) -> Iterator[Finding]:
    rows, person = point.rows("matches"), look["person"]
    if rows is None:
        return
    mine = {key for key, life in lives.items() if life.entry["owner"] == person}
    if look["name"]:
        mine = {key for key in mine if lives[key].entry["name"] == look["name"]}
    audiences, desk = known.audiences(person), desks.of(person)
    wanted, unsure = Counter[str](), set[str]()
    for row in rows:
        released = row["sequence"] is not None and row["listed"] and row["retracted_at"] is None
        if row["filter"] not in mine or not released or row["audience"] not in audiences:
            continue
        match is_muted(desk, known, person, row["msgid"]):
            case None:
                unsure.add(row["msgid"])
            case False:
                wanted[row["msgid"]] += 1
    shown = Counter(msgid for msgid in look["msgids"] if msgid not in unsure)
    said = f"the feed {look['name']} of {person}".replace("  ", " ")
    for msgid in sorted({*shown, *wanted} - unsure):
        if shown[msgid] != wanted[msgid]:
            times = f"{shown[msgid]} times, and not {wanted[msgid]} times"
            yield Finding(LAW, f"{said} has {msgid} {times}", point.step)
