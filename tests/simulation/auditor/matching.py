"""The law of filters: what is stored of each is what it has matched, and when it first did.

A filter that keeps has QM, a live one Q(t), up to where it was run.  The state at the last settled
point was judged then; so what is judged is the step from there: nothing of it is lost or changed,
and what is new is what the texts that the filter had since have matched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.simulation.auditor.findings import Finding, instants, short, when
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import MESSAGES
from tests.simulation.auditor.spans import NONE, Spans, holds
from tests.simulation.auditor.story import Known, Point
from tests.simulation.auditor.timelines import Timelines, first_after, since_when
from tests.simulation.auditor.timing import HELD
from tests.simulation.auditor.waiting import ORDINARY, Clock, clock_of

Row = dict[str, Any]
LAW = "matches"


def judge_matches(
    point: Point, lives: dict[int, Life], known: Known, timelines: Timelines
) -> Iterator[Finding]:
    """Judge all filters at a settled point, and take in what is stored of them then."""
    rows, filters, clock = point.rows("matches"), point.rows("filters"), point.one("clock")
    if rows is None or filters is None or clock is None:
        return
    stored: dict[int, dict[str, Row]] = {key: {} for key in lives}
    for row in rows:
        if row["filter"] not in stored:
            yield Finding(LAW, f"a match of {row['msgid']} is of a filter that is gone", point.step)
            continue
        if row["msgid"] in stored[row["filter"]]:
            yield _finding(point, lives[row["filter"]], row["msgid"], known, "is stored twice")
        stored[row["filter"]][row["msgid"]] = row
    for state in filters:
        life = lives.get(state["key"])
        if life is None:
            continue
        its_part = state.get("shared_since", clock["shared_since"])
        since = its_part if state["enrolled"] else state["since"]
        found = stored[state["key"]]
        life.clock = _clock(life, state, point, known)
        yield from _behind(point, life, state, since, known)
        unsettled = life.entry["live"] and life.again and not state["active"]
        if not state["error"] and not unsettled:
            judge = _judge_live if life.entry["live"] else _judge_kept
            yield from judge(point, life, state, since, found, known, timelines)
        yield from _seen(point, life, found, known)
        life.stored, life.since, life.new = found, since, False
        if state["active"] and not state["error"]:
            life.again, life.lost, life.forgotten = False, False, None
            life.dropped = False
            life.cut, life.was_cut = False, life.was_cut or life.cut
            life.older.clear()


def _clock(life: Life, state: Row, point: Point, known: Known) -> Clock:
    """Return what is ``now()`` for a filter; of one that waits, by what was recorded."""
    facts = point.rows("complete")
    if facts is None or state.get("waits_from") is None:
        return ORDINARY
    t0, at_start = life.entry["t0"], state.get("start_clock")
    return clock_of(facts, life.audiences(known), state["waits_from"], t0, at_start)


def _behind(point: Point, life: Life, state: Row, since: int, known: Known) -> Iterator[Finding]:
    """A filter that runs has been run over all that is there."""
    if state["error"]:
        if life.entry.get("tql"):
            error = state["error"]
            yield Finding("set aside", f"{_name(life)} has the error “{error}”", point.step)
    elif state["active"] and since < known.newest:
        yield Finding(
            LAW,
            f"{_name(life)} was run up to {when(since)}, and there is mail of {when(known.newest)}",
            point.step,
        )


def _judge_kept(
    point: Point,
    life: Life,
    state: Row,
    since: int,
    found: dict[str, Row],
    known: Known,
    timelines: Timelines,
) -> Iterator[Finding]:
    must, may = _expected(life, state, since, known, timelines)
    for msgid in sorted(must.keys() - found.keys()):
        at = instants(must[msgid])
        yield _finding(point, life, msgid, known, f"matched at {at} and is not there")
    for msgid, row in sorted(found.items()):
        before = life.stored.get(msgid)
        if row["retracted_at"] is not None:
            yield _finding(point, life, msgid, known, "was retracted from a filter that keeps")
        if before is not None and not life.lost:
            if row["matched_at"] != before["matched_at"]:
                was, now = when(before["matched_at"]), when(row["matched_at"])
                yield _finding(point, life, msgid, known, f"matched at {was}, and now at {now}")
            continue
        if before is None and any(stretch.waits for stretch in life.older):
            continue  # by a text that waited, until it was changed
        if before is None and life.forgotten is not None and row["stored_at"] <= life.forgotten:
            continue  # by mail that is forgotten, or by a text that it had before a backup
        allowed = must.get(msgid, set()) | may.get(msgid, set())
        if before is not None:
            allowed |= {before["matched_at"]}
        at = when(row["matched_at"])
        if row["matched_at"] not in allowed and _matches_what_is_left(life, row, known, timelines):
            continue
        if not allowed:
            said = f"is there with matched_at {at}, and has never matched"
            yield _finding(point, life, msgid, known, said)
        elif row["matched_at"] not in allowed:
            said = f"is there with matched_at {at}, and matched at {instants(allowed)}"
            yield _finding(point, life, msgid, known, said)
    yield from _come_back(point, life, found, known, timelines)


def _matches_what_is_left(life: Life, row: Row, known: Known, timelines: Timelines) -> bool:
    """Tell whether a message matches, at the instant of a match, for what else was forgotten."""
    asked = [(stretch.tql, stretch.audiences, ORDINARY) for stretch in life.older if stretch.cut]
    if life.cut or life.was_cut:
        asked.append((life.entry["tql"], life.audiences(known), life.clock))
    return any(
        holds(timelines.of(*one).get(row["msgid"], NONE), row["matched_at"]) for one in asked
    )


def _come_back(
    point: Point, life: Life, found: dict[str, Row], known: Known, timelines: Timelines
) -> Iterator[Finding]:
    """What had left a live list comes back as it becomes one that keeps: it is not found anew."""
    if life.forgotten is not None or life.dropped or life.since is None:
        return
    for stretch in life.older if not life.new else ():
        spans_of = timelines.of(stretch.tql, stretch.audiences) if stretch.live else {}
        for msgid, before in sorted(life.stored.items() if stretch.live else ()):
            again = any(begin > life.since for begin, _ in spans_of.get(msgid, ()))
            if msgid not in found or before["retracted_at"] is None or again:
                continue
            if found[msgid].get("key") != before.get("key"):
                yield _finding(point, life, msgid, known, "had left the list, and is found anew")


Found = dict[str, set[int]]


def _expected(
    life: Life, state: Row, since: int, known: Known, timelines: Timelines
) -> tuple[Found, Found]:
    """Return what has to be stored, and what else may be: the instants that matched_at may be."""
    must: Found = {}
    may: Found = {}
    for msgid, row in life.stored.items():
        there = known.has_copy(msgid, life.audiences(known))
        if there:
            (may if life.lost else must)[msgid] = {row["matched_at"]}
    last = life.since if life.since is not None and not life.new else None
    for stretch in [stretch for stretch in life.older if not stretch.waits]:
        for msgid, spans in timelines.of(stretch.tql, stretch.audiences).items():
            if stretch.live:
                may.setdefault(msgid, set()).update(_within(spans, -HELD, stretch.most))
                continue
            at = first_after(spans, stretch.t0)
            if at is None or at > stretch.most or not _visible(msgid, life, known):
                continue
            sure = stretch.sure and at <= stretch.least and state["active"] and not life.cut
            if sure and (last is None or at > last) and msgid not in must:
                must[msgid] = {at}
            else:
                may.setdefault(msgid, set()).add(at)
    end = life.entry.get("end")
    until = since if end is None else min(since, end)
    spans_of = timelines.of(life.entry["tql"], life.audiences(known), life.clock)
    for msgid, spans in spans_of.items():
        at = first_after(spans, life.entry["t0"])
        if at is None or at > until:
            continue
        if not life.cut and (life.again or last is None or at > last):
            if msgid not in must:
                must[msgid] = {at} | may.pop(msgid, set())
        elif life.cut or life.was_cut:
            begin = -HELD if life.again or last is None else last
            may.setdefault(msgid, set()).update(_within(spans, begin, until))
    return must, may


def _within(spans: Spans, since: int, until: int) -> set[int]:
    """Return the instants within a window at which something may have been seen to match."""
    return {begin for begin, _ in spans if since < begin <= until}


def _judge_live(
    point: Point,
    life: Life,
    state: Row,
    since: int,
    found: dict[str, Row],
    known: Known,
    timelines: Timelines,
) -> Iterator[Finding]:
    end = life.entry.get("end")
    at = since if end is None else min(since, end)
    spans_of = timelines.of(life.entry["tql"], life.audiences(known))
    answer = {
        msgid: began
        for msgid, spans in spans_of.items()
        if (began := since_when(spans, at, life.entry["t0"])) is not None
    }
    listed = {msgid: row for msgid, row in found.items() if row["retracted_at"] is None}
    for msgid in sorted(answer.keys() - listed.keys()):
        said = f"matches since {when(answer[msgid])} and is not in the list at {when(at)}"
        yield _finding(point, life, msgid, known, said)
    for msgid, row in sorted(listed.items()):
        if msgid not in answer:
            times = instants({begin for begin, _ in spans_of.get(msgid, ())}) or "never"
            said = f"is in the list at {when(at)} and does not match then; it began to at {times}"
            yield _finding(point, life, msgid, known, said)
        elif row["matched_at"] != answer[msgid]:
            was, now = when(row["matched_at"]), when(answer[msgid])
            said = f"is in the list as of {was}, and matches since {now}"
            yield _finding(point, life, msgid, known, said)
    if life.again:
        return
    for msgid, row in sorted(found.items()):
        left = row["retracted_at"]
        before = life.stored.get(msgid)
        if left is None or (before is not None and before["retracted_at"] == left):
            continue
        if left not in {end for _, end in spans_of.get(msgid, ())}:
            said = f"has left the list at {when(left)}, and did not cease to match then"
            yield _finding(point, life, msgid, known, said)
    yield from _left_unseen(point, life, at, found, spans_of, known)


def _left_unseen(
    point: Point,
    life: Life,
    at: int,
    found: dict[str, Row],
    spans_of: dict[str, Spans],
    known: Known,
) -> Iterator[Finding]:
    """What was shown and has left the list is told as such, and not forgotten."""
    for msgid, before in sorted(life.stored.items()):
        shown = before["shown_at"] <= before["stored_at"] or before["sequence"] is not None
        if msgid not in found and shown and known.has_copy(msgid, life.audiences(known)):
            spans = spans_of.get(msgid, ())
            left = instants({end for _, end in spans if end <= at}) or "never"
            said = f"was shown, has left the list at {left}, and no trace of it is there"
            yield _finding(point, life, msgid, known, said)


def _seen(point: Point, life: Life, found: dict[str, Row], known: Known) -> Iterator[Finding]:
    """Each match is of a copy that the owner of the filter may see, and that is there."""
    audiences = life.audiences(known)
    there = known.rows[MESSAGES]
    for msgid, row in sorted(found.items()):
        if row["audience"] not in audiences:
            said = f"is stored as of {row['audience']}, which {life.entry['owner']} may not see"
            yield _finding(point, life, msgid, known, said)
        elif (msgid, row["audience"]) not in there:
            yield _finding(point, life, msgid, known, f"of {row['audience']} is gone and stored")
        elif not row.get("listed", True) and row["retracted_at"] is None:
            yield _finding(point, life, msgid, known, "is stored and has no card")


def _visible(msgid: str, life: Life, known: Known) -> bool:
    return known.has_copy(msgid, life.audiences(known))


def _name(life: Life) -> str:
    mode = "live " if life.entry["live"] else ""
    text = life.entry.get("text") or life.entry["tql"]
    t0 = "" if life.entry["t0"] is None else f", T0 {when(life.entry['t0'])}"
    return f"the {mode}filter {life.entry['key']} of {life.entry['owner']} “{text}”{t0}"


def _finding(point: Point, life: Life, msgid: str, known: Known, said: str) -> Finding:
    seen = life.audiences(known)
    rows = known.rows[MESSAGES].items()
    copies = [short(row) for (key, audience), row in rows if key == msgid and audience in seen]
    tql = life.entry["tql"]
    evidence = f"({'; '.join(copies) or 'no copy is there'}; TQL: {tql})"
    return Finding(LAW, f"{_name(life)}: {msgid} {said} {evidence}", point.step)
