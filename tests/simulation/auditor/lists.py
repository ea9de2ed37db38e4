"""What people see: the inbox, the lists of their filters, and their shelves.

matches of a person ─ visible, shown, not retracted, not done or snoozed ─> a filter's list
                    └ nor kept out, nor folded as mail of before, nor of a muted thread ─> the
                      inbox; of one ─> what is muted
by the day on which they matched, in a day by when they were received, the newest first; what is
old and matched as it was imported stands behind the others of its day; what a source has brought
was imported if it was there at first sight, which nobody outside can say
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.simulation.auditor.came_in import message_id
from tests.simulation.auditor.conversations import compare_lines
from tests.simulation.auditor.findings import EPOCH, Finding, when
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import MESSAGES
from tests.simulation.auditor.shelves import UNSURE, Desk, Desks, root_of
from tests.simulation.auditor.story import Entry, Known, Point

LAW = "lists"
PAGE = 50
"""Messages on a page."""

OLD = 86_400_000_000
"""How long before it was imported a message was received that stands in a block."""

_FAR = 10_000_000
"""A day after all others."""

Key = tuple[Any, ...]
Copy = tuple[str, str]
"""A message to one audience: its msgid, and the audience."""

FIELDS = {"done": "done", "starred": "starred", "snoozed": "snoozed"}


def judge_lists(
    point: Point, lives: dict[int, Life], known: Known, desks: Desks
) -> Iterator[Finding]:
    """Judge every page that was looked at."""
    for look in point.seen.get("page", []):
        if point.rows("matches") is None or look.get("status", 200) != 200:
            continue
        if look["page"] in ("inbox", "filter", "muted"):
            yield from _judge_list(point, look, lives, known, desks)
        elif look["page"] == "shelf" and look["name"] in FIELDS:
            yield from _judge_shelf(point, look, known, desks)


def _judge_list(
    point: Point, look: Entry, lives: dict[int, Life], known: Known, desks: Desks
) -> Iterator[Finding]:
    person, now = look["person"], look["now"]
    zone = ZoneInfo(known.people.get(person, {}).get("time_zone") or "UTC")
    found, unsure = listed(point, look, lives, known, desks)
    keys: dict[Copy, Key] = {}
    for (msgid, audience), matches in found.items():
        at = max(row["matched_at"] for row in matches)
        if _is_perhaps_in_block(msgid, audience, at, known):
            unsure.add(msgid)
        else:
            is_inbox = not look["name"] and look["page"] == "inbox"
            keys[msgid, audience] = _key(
                msgid, audience, at, zone, known, desks.of(person), now, inbox=is_inbox
            )
    yield from compare(point, look, keys, unsure, known, unread=unread_of(found))


def listed(
    point: Point, look: Entry, lives: dict[int, Life], known: Known, desks: Desks
) -> tuple[dict[Copy, list[Entry]], set[str]]:
    """Return what has to be in a list, with its matches, and messages of which nobody can say.

    The list is that of the filter of the look's name; without one the inbox, or what is muted.
    """
    person, name, now = look["person"], look["name"], look["now"]
    mine = {
        key
        for key, life in lives.items()
        if life.entry["owner"] == person and name in ("", life.entry["name"])
    }
    audiences, desk = known.audiences(person), desks.of(person)
    inbox = not name and look["page"] != "muted"
    folded = _folds(point) if inbox else {}
    found: dict[Copy, list[Entry]] = {}
    for row in point.rows("matches") or []:
        if row["matched_at"] <= folded.get(row["filter"], -math.inf):
            continue
        shown = row["shown_at"] <= row["stored_at"] or row["shown_at"] <= now
        stays = row["listed"] and row["retracted_at"] is None and row["audience"] in audiences
        if row["filter"] in mine and shown and stays:
            found.setdefault((row["msgid"], row["audience"]), []).append(row)
    unsure = set[str]()
    for msgid, audience in list(found):
        hidden = desk.state(msgid).hidden(now, inbox=inbox)
        muted = False if name else is_muted(desk, known, person, msgid)
        if hidden is None or muted is None:
            unsure.add(msgid)
        if hidden is not False or muted is not (look["page"] == "muted"):
            del found[msgid, audience]
    return found, unsure


def _folds(point: Point) -> dict[int, int]:
    """Return of filters up to when what they found is one line of the inbox."""
    return {
        row["key"]: row["folds_before"]
        for row in point.rows("filters") or []
        if row.get("folds_before") is not None and row.get("unfolded_at") is None
    }


def _key(
    msgid: str,
    audience: str,
    at: int,
    zone: ZoneInfo,
    known: Known,
    desk: Desk,
    now: int,
    *,
    inbox: bool,
) -> Key:
    """Return by what a message is ordered: what was snoozed stands where it came back.

    What is pinned is at the top of the inbox, what was pinned last first.
    """
    state, row = desk.state(msgid), known.rows[MESSAGES].get((msgid, audience))
    if inbox and state.done is None and state.pinned is not None:
        return _FAR, _behind(""), state.pinned, state.pinned
    back = state.snoozed if state.done is None and (state.snoozed or now + 1) <= now else None
    moved = max(at, back or at)
    day = (EPOCH + timedelta(microseconds=moved)).astimezone(zone).date().toordinal()
    received = row["received"] if row else 0
    block = known.imported.get((msgid, audience), "")
    if row is None or moved != row["ts"] or row["ts"] - received <= OLD:
        block = ""
    return day, _behind(block), max(received, back or received), moved


def _is_perhaps_in_block(msgid: str, audience: str, at: int, known: Known) -> bool:
    """Return whether it matters, and nobody can say, if a source found a message at first sight."""
    row = known.rows[MESSAGES].get((msgid, audience))
    old = row is not None and at == row["ts"] and row["ts"] - row["received"] > OLD
    return old and (message_id(msgid), audience) in known.pulled


def _behind(block: str) -> Key:
    """Return what puts the blocks of imports behind what is in none, by their names.

    >>> _behind("") > _behind("a") > _behind("ab") > _behind("b")
    True
    """
    return (1,) if not block else (0, *(-ord(letter) for letter in block), 1)


def is_muted(desk: Desk, known: Known, person: str, msgid: str) -> bool | None:
    """Return whether a message is of a muted thread; None if nobody can say."""
    root = root_of(known, person, msgid)
    if root is None:  # a reply without references has the root of its parent
        return None if any(desk.muted.values()) else False
    muted = desk.muted.get(root, False)
    return None if muted is UNSURE else bool(muted)


def unread_of(found: Mapping[Copy, list[Entry]]) -> set[str]:
    """Return which messages of a list are unread."""
    return {
        msgid
        for (msgid, _), matches in found.items()
        if any(match.get("read_at") is None for match in matches)
    }


def compare(
    point: Point,
    look: Entry,
    keys: Mapping[Copy, Key],
    unsure: set[str],
    known: Known,
    law: str = LAW,
    unread: set[str] | None = None,
) -> Iterator[Finding]:
    """Compare a page with what has to be on it; the order of equal ones is free.

    Of a message of which a copy is unsure, no copy is judged: pages do not say which one it is.
    """
    keys = {copy: key for copy, key in keys.items() if copy[0] not in unsure}
    if "lines" in look:
        person = look["person"]
        yield from compare_lines(
            point, look, keys, unsure, law, lambda msgid: root_of(known, person, msgid), unread
        )
        return
    shown = [msgid for msgid in look["msgids"] if msgid not in unsure]
    wanted = sorted(keys, key=keys.__getitem__, reverse=True)
    of_msgid: dict[str, list[Key]] = {}
    for msgid, _ in wanted:
        of_msgid.setdefault(msgid, [])
    for copy in wanted:
        of_msgid[copy[0]].append(keys[copy])
    where = f"{look['page']} {look['name']} of {look['person']}".replace("  ", " ")
    for msgid in shown:
        if msgid not in of_msgid:
            said = f"the {where} shows {msgid}, which is not to be there"
            yield Finding(law, said, point.step)
            return
    whole = len(look["msgids"]) < PAGE
    if whole and len(shown) != len(wanted):
        missing = [msgid for msgid, _ in wanted if shown.count(msgid) < len(of_msgid[msgid])]
        said = f"the {where} lacks {', '.join(missing)}" if missing else f"the {where} repeats"
        yield Finding(law, f"{said}: {', '.join(shown)}", point.step)
        return
    places = [of_msgid[msgid].pop(0) if of_msgid[msgid] else None for msgid in shown]
    if None in places:
        yield Finding(law, f"the {where} repeats a message: {', '.join(shown)}", point.step)
        return
    if unsure and not whole:  # nobody can say what had to be on the page, but in which order
        wanted = [copy for copy in wanted if copy[0] in shown]
    best = [keys[copy] for copy in wanted[: len(shown)]]
    if places != best:
        number = next(
            n for n, pair in enumerate(zip(places, best, strict=True)) if pair[0] != pair[1]
        )
        said = (
            f"the {where} is out of order: {shown[number]} ({_words(places[number])}) stands where"
            f" {wanted[number][0]} ({_words(best[number])}) belongs"
        )
        yield Finding(law, said, point.step)


def _words(key: Key | None) -> str:
    if key is None or len(key) < 4:
        return str(key)
    return f"received {when(key[2])}, matched {when(key[3])}"


def _judge_shelf(point: Point, look: Entry, known: Known, desks: Desks) -> Iterator[Finding]:
    """Judge a list of what was done, starred or snoozed, by when that was."""
    person, name, now = look["person"], FIELDS[look["name"]], look["now"]
    desk, audiences = desks.of(person), known.audiences(person)
    keys: dict[Copy, Key] = {}
    unsure = set[str]()
    for msgid, state in desk.states.items():
        at = getattr(state, name)
        if at is UNSURE or not known.has_copy(msgid, audiences):
            unsure.add(msgid)
        elif at is not None and (name != "snoozed" or at > now):
            keys[msgid, ""] = (-at if name == "snoozed" else at,)
    yield from compare(point, look, keys, unsure, known)
