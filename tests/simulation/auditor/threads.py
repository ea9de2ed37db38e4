"""Which messages are in which threads, and since when: facts, each found when it first holds.

A message is in the thread that the first of its references names; without any, in that of its own
name if it answers nothing, and in one of its parent's name if this is not there.  Of those that
came together and answer one another in a circle, the first by name is in that of its own name.  A
message is in every thread of its parent.  Its parent is of the same audience, or public.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.nodes import MESSAGES, THREADS
from tests.simulation.auditor.spans import FOREVER
from tests.simulation.auditor.story import Known, Point

LAW = "threads"

Row = dict[str, Any]


def facts_of(messages: Iterable[Row]) -> list[Row]:
    """Return a row for each message and thread, with the instant from which on it holds.

    What was forgotten has ``gone``, and a fact about it is gone with it.
    """
    rows = list(messages)
    copies: dict[str, list[Row]] = defaultdict(list)
    answers: dict[str | None, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        copies[row["msgid"]].append(row)
        answers[row["inreplyto"]].append(number)
    order, waiting = count(), list[tuple[int, int, int, str]]()
    for number, row in enumerate(rows):
        root = _named(row, copies)
        if root is not None:
            waiting.append((row["ts"], next(order), number, root))
    heapq.heapify(waiting)
    found: dict[tuple[int, str], Row] = {}
    while waiting:
        ts, _, number, root = heapq.heappop(waiting)
        row = rows[number]
        if (number, root) in found:
            continue
        found[number, root] = {
            **{"msgid": row["msgid"], "ts": ts, "root": root, "audience": row["audience"]},
            "gone": _end(row),
        }
        for answer in answers[row["msgid"]]:
            below = rows[answer]
            at = max(ts, below["ts"])
            if _sees(below, row) and at < min(_end(below), _end(row)):
                heapq.heappush(waiting, (at, next(order), answer, root))
    return list(found.values())


def _named(row: Row, copies: dict[str, list[Row]]) -> str | None:
    if row["references"]:
        return str(row["references"][0])
    if row["inreplyto"] is None or _begins_circle(row, copies):
        return str(row["msgid"])
    above = _above(row, copies)
    return None if any(_end(other) > row["ts"] for other in above) else str(row["inreplyto"])


def _above(row: Row, copies: dict[str, list[Row]]) -> list[Row]:
    """Return what a message answers, of what is there with it."""
    answered = copies.get(row["inreplyto"] or "", ())
    return [other for other in answered if _sees(row, other) and other["ts"] <= row["ts"]]


def _begins_circle(row: Row, copies: dict[str, list[Row]]) -> bool:
    """Return whether a message answers itself by way of others that came with it, all after it."""

    def reached(start: Row) -> dict[tuple[str, str], Row]:
        found: dict[tuple[str, str], Row] = {}
        waiting = [start]
        while waiting:
            for other in _above(waiting.pop(), copies):
                is_with = other["ts"] == row["ts"] and not other["references"]
                if is_with and _name(other) not in found:
                    found[_name(other)] = other
                    waiting.append(other)
        return found

    circle = [other for other in reached(row).values() if _name(row) in reached(other)]
    return bool(circle) and min(map(_name, circle)) == _name(row)


def _name(row: Row) -> tuple[str, str]:
    return row["msgid"], row["audience"]


def _sees(row: Row, other: Row) -> bool:
    return other["audience"] in (row["audience"], "public")


def _end(row: Row) -> int:
    return int(row.get("gone") or FOREVER)


def judge_threads(point: Point, known: Known) -> Iterator[Finding]:
    """Judge the facts that are stored: those that follow from the messages, and no others."""
    if known.has_forgotten or point.rows("rows", table=THREADS) is None:
        return
    stored = {_fact(row) for row in known.facts}
    due = {_fact(row) for row in facts_of(known.rows[MESSAGES].values())}
    for verb, facts in (("is not stored", due - stored), ("does not follow", stored - due)):
        for msgid, audience, root, ts in sorted(facts)[:3]:
            said = f"that {msgid} of {audience} is in the thread {root} from {when(ts)}"
            yield Finding(LAW, f"{said} {verb}", point.step)


def _fact(row: Row) -> tuple[str, str, str, int]:
    return row["msgid"], row["audience"], row["root"], row["ts"]
