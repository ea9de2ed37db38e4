"""Lists with a line for each conversation: the lines are parts of the list, in its order.

the list, message by message ─ all with one root together ─> a line, where the first of it stands

Every message of the list is in one line, and nothing else is in any; those of one thread are in
one line, and those of two in two.  A line is unread if any of its messages is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.story import Entry, Point

PAGE = 50
"""Lines on a page."""

Key = tuple[Any, ...]
Copy = tuple[str, str]
RootOf = Callable[[str], str | None]
"""Returns the root of a message's thread; None if nobody can say."""


def compare_lines(
    point: Point,
    look: Entry,
    keys: Mapping[Copy, Key],
    unsure: Collection[str],
    law: str,
    root_of: RootOf,
    unread: Collection[str] | None = None,
) -> Iterator[Finding]:
    """Compare the lines of a page with what has to be on it; the order of equal ones is free."""
    where = f"{look['page']} {look['name']} of {look['person']}".replace("  ", " ")
    lines = [[msgid for msgid in msgids if msgid not in unsure] for msgids, _ in look["lines"]]
    best: dict[str, list[Key]] = {}
    for (msgid, _), key in keys.items():
        best.setdefault(msgid, []).append(key)
    shown = [msgid for line in lines for msgid in line]
    strange = [msgid for msgid in shown if msgid not in best]
    if strange:
        said = f"the {where} shows {strange[0]}, which is not to be there"
        yield Finding(law, said, point.step)
        return
    more = [msgid for msgid in shown if shown.count(msgid) > len(best[msgid])]
    if more:
        yield Finding(law, f"the {where} repeats {more[0]}: {lines}", point.step)
        return
    is_whole = len(look["lines"]) < PAGE
    if is_whole and len(shown) != len(keys):
        missing = [msgid for msgid in best if shown.count(msgid) < len(best[msgid])]
        yield Finding(law, f"the {where} lacks {', '.join(missing)}: {lines}", point.step)
        return
    yield from _judge_threads(point, where, lines, law, root_of)
    places = [max(key for msgid in line for key in best[msgid]) for line in lines if line]
    if places != sorted(places, reverse=True) and not _is_cut(look, unsure):
        yield Finding(law, f"the lines of the {where} are out of order: {lines}", point.step)
    for msgids, is_unread in look["lines"] if unread is not None else ():
        if any(msgid in unsure for msgid in msgids):
            continue
        if is_unread != any(msgid in (unread or ()) for msgid in msgids):
            said = f"the line {msgids} of the {where} is {'un' * is_unread}read"
            yield Finding(law, said, point.step)


def _is_cut(look: Entry, unsure: Collection[str]) -> bool:
    """Return whether a line has messages of which nobody can say where they stand."""
    return any(msgid in unsure for msgids, _ in look["lines"] for msgid in msgids)


def _judge_threads(
    point: Point, where: str, lines: list[list[str]], law: str, root_of: RootOf
) -> Iterator[Finding]:
    """Judge that each line is of one thread, and each thread in one line."""
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines):
        roots = {root_of(msgid) for msgid in line} - {None}
        if len(roots) > 1:
            yield Finding(law, f"a line of the {where} is of two threads: {line}", point.step)
        for root in sorted(filter(None, roots)):
            if line_of.setdefault(root, number) != number:
                said = f"the {where} has the thread {root} in two lines: {lines}"
                yield Finding(law, said, point.step)
