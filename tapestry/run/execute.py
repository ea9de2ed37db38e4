"""Run groups of filters over their windows and say what newly matched.

    filters ─ compile ─> groups ─ lower ─> one statement ─ engine ─> candidates ─ decide ─> matches

The engine is Spark in the product; anything that answers a Statement serves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tapestry.core.ports import Match
from tapestry.plan.compile import Compiled
from tapestry.plan.group import Group, Member
from tapestry.plan.lower import lower, lower_at
from tapestry.plan.relation import SEPARATOR, Range, Statement

MOST_VARIANTS = 24
"""Variants in one statement: more share its fixed cost, but take longer to plan."""

Pair = tuple[int, str]
"""A filter and a msgid."""


class Engine(Protocol):
    """Answers statements over one snapshot of the tables."""

    def answer(self, statement: Statement) -> list[tuple[int, str, str, int, int, int, str]]:
        """Return the rows of a statement, in the columns of ``plan.relation.OUTPUT``."""

    def covers(self, table: str, ranges: tuple[Range, ...]) -> bool:
        """Tell whether the table can hold rows whose ``ts`` lies in one of the ranges."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One filter in one run; ``start`` is its T0, or None where it takes existing mail."""

    fid: int
    compiled: Compiled
    audiences: tuple[str, ...]
    since: int
    start: int | None = None


def execute(
    engine: Engine,
    subscriptions: Iterable[Subscription],
    until: int,
    known: Callable[[Collection[Pair]], set[Pair]],
) -> list[Match]:
    """Return every match with since < matched_at <= until, each filter by its own since.

    ``known`` returns those of some (filter, msgid) pairs that were delivered before; a
    filter's runs must follow each other without a gap.  Matches come in the order of
    filter, matched_at, msgid.
    """
    by_id = {s.fid: s for s in subscriptions}
    statements = (lower(chunk, until, engine.covers) for chunk in _chunks(groups(by_id.values())))
    found = [row for statement in statements if statement for row in engine.answer(statement)]
    pairs = {(fid, msgid) for fid, msgid, *_ in found}
    old = known(pairs) if pairs else set()
    begun = {
        (fid, msgid): by_id[fid]
        for fid, msgid, _, ts, *_ in found
        if (start := by_id[fid].start) is not None and ts <= start and (fid, msgid) not in old
    }
    old |= _held_at_start(engine, begun)
    matches = [
        Match(fid, msgid, audience, c, disjunct, tuple(why.split(SEPARATOR)) if why else ())
        for fid, msgid, audience, _, c, disjunct, why in found
        if (fid, msgid) not in old
    ]
    return sorted(matches, key=lambda m: (m.filter, m.matched_at, m.msgid))


def groups(subscriptions: Iterable[Subscription]) -> list[Group]:
    """Return the subscriptions grouped by signature."""
    gathered: dict[str, tuple[Compiled, list[Member]]] = {}
    for s in subscriptions:
        member = Member(s.fid, s.compiled.signature, s.audiences, s.since, s.start)
        gathered.setdefault(s.compiled.signature.key, (s.compiled, []))[1].append(member)
    return [Group(one.query, tuple(members)) for one, members in gathered.values()]


def _chunks(all_groups: Sequence[Group]) -> list[list[Group]]:
    """Return the groups in as few statements as is good for planning them."""
    chunks: list[list[Group]] = []
    room = 0
    for group in all_groups:
        if not group.query.variants:
            continue
        size = len(group.query.variants)
        if not chunks or size > room:
            chunks.append([])
            room = MOST_VARIANTS
        chunks[-1].append(group)
        room -= size
    return chunks


def _held_at_start(engine: Engine, begun: dict[Pair, Subscription]) -> set[Pair]:
    """Return the pairs whose message matched at the filter's T0 already.

    A filter "from now on" does not deliver those; only messages older than T0 can be.
    """
    held: set[Pair] = set()
    for group in groups({s.fid: s for s in begun.values()}.values()):
        fids = {member.fid for member in group.members}
        among = [pair for pair in begun if pair[0] in fids]
        rows = engine.answer(lower_at(group, None, among))
        held |= {(fid, msgid) for fid, msgid, *_ in rows}
    return held
