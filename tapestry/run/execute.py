"""Run groups of filters over their windows and say what newly matched.

    filters ─ compile ─> groups ─ lower ─> one statement ─ engine ─> candidates ─ decide ─> matches

The engine is Spark in the product; anything that answers a Statement serves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tapestry.core.ports import Match
from tapestry.plan.compile import Compiled
from tapestry.plan.engine import Engine, Row, evaluate
from tapestry.plan.group import ConstantRow, SignatureGroup
from tapestry.plan.lowering.lower import lower, lower_among
from tapestry.plan.relation import SEPARATOR
from tapestry.rewrite.stages import IncrementalDisjunct

MOST_DELTA_QUERIES = 12
"""Variants in one statement: more share its fixed cost, but take longer to plan."""

Pair = tuple[int, str]
"""A filter and a msgid."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One filter in one run.

    ``start`` is its T0, or None where it takes existing mail; ``until`` ends its window
    where the run does not.
    """

    filter_id: int
    compiled: Compiled
    audiences: tuple[str, ...]
    since: int
    start: int | None = None
    until: int | None = None


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
    by_id = {s.filter_id: s for s in subscriptions}
    windows = ((s, until if s.until is None else s.until) for s in by_id.values())
    found = candidates(engine, groups(windows), until)
    starts = {filter_id: s.start for filter_id, s in by_id.items()}
    return decided(engine, found, starts, by_id.__getitem__, known)


def decided(
    engine: Engine,
    found: Collection[Row],
    starts: Mapping[int, int | None],
    subscription: Callable[[int], Subscription],
    known: Callable[[Collection[Pair]], set[Pair]],
) -> list[Match]:
    """Return the matches among the candidates: neither delivered before nor held at T0.

    ``starts`` gives each filter's T0; ``subscription`` is asked for those that have one.
    """
    pairs = {(filter_id, msgid) for filter_id, msgid, *_ in found}
    old = known(pairs) if pairs else set()
    begun = {pair for pair in pairs - old if starts[pair[0]] is not None}
    old |= _held_at_start(
        engine,
        {filter_id: subscription(filter_id) for filter_id in {filter_id for filter_id, _ in begun}},
        begun,
    )
    matches = [_match(row, row[0]) for row in found if (row[0], row[1]) not in old]
    return sorted(matches, key=lambda m: (m.filter_id, m.matched_at, m.msgid))


def execute_windows(
    engine: Engine, subscriptions: Iterable[Subscription], instants: Sequence[int]
) -> list[list[Match]]:
    """Return the matches of each window (T0, T1], (T1, T2], … that ends at the instants.

    Every filter starts at its own since, with existing mail.  A filter and a window make a
    row of the constant table, so that all windows share the statements of one run.
    """
    asked = list(subscriptions)
    starts = [None, *instants[:-1]]
    windows = [
        (replace(s, filter_id=n * len(instants) + run, since=s.since if low is None else low), high)
        for n, s in enumerate(asked)
        for run, (low, high) in enumerate(zip(starts, instants, strict=True))
    ]
    runs: list[list[Match]] = [[] for _ in instants]
    delivered: set[Pair] = set()
    rows = candidates(engine, groups(windows), max(instants)) if instants else []
    for row in sorted(rows, key=lambda row: row[0]):
        n, run = divmod(row[0], len(instants))
        match = _match(row, asked[n].filter_id)
        if (match.filter_id, match.msgid) not in delivered:
            delivered.add((match.filter_id, match.msgid))
            runs[run].append(match)
    return [sorted(run, key=lambda m: (m.filter_id, m.matched_at, m.msgid)) for run in runs]


def candidates(engine: Engine, all_groups: Sequence[SignatureGroup], until: int) -> list[Row]:
    """Return the first candidate of every (filter, message)."""
    first: dict[Pair, Row] = {}
    for chunk in chunked(pieces(all_groups), variants_of):
        statement = lower(chunk, until, engine.covers)
        for row in evaluate(engine, statement) if statement else ():
            other = first.setdefault((row[0], row[1]), row)
            if rank(row) < rank(other):
                first[row[0], row[1]] = row
    return list(first.values())


def rank(row: Row) -> tuple[int, int, str, str]:
    """Return by what the candidates of one filter and message are ordered, the first counts."""
    _, _, audience, _, c, disjunct, why = row
    return c, disjunct, why, audience


def _match(row: Row, filter_id: int) -> Match:
    _, msgid, audience, _, c, disjunct, why = row
    evidence = tuple(why.split(SEPARATOR)) if why else ()
    return Match(filter_id, msgid, audience, c, disjunct, evidence)


def groups(windows: Iterable[tuple[Subscription, int]]) -> list[SignatureGroup]:
    """Return the disjuncts of subscriptions, each with the end of its window, by signature."""
    gathered: dict[str, tuple[IncrementalDisjunct, list[ConstantRow]]] = {}
    for s, until in windows:
        for plan in s.compiled.plans:
            index, constants = plan.disjunct.monotone.index, plan.signature.constants
            row = ConstantRow(s.filter_id, index, constants, s.audiences, s.since, until)
            gathered.setdefault(plan.signature.key, (plan.disjunct, []))[1].append(row)
    return [SignatureGroup(one, tuple(members)) for one, members in gathered.values()]


def chunked(
    some: Iterable[SignatureGroup], size: Callable[[SignatureGroup], int]
) -> list[list[SignatureGroup]]:
    """Return the groups in as few statements as is good for planning them."""
    chunks: list[list[SignatureGroup]] = []
    room = 0
    for piece in some:
        if size(piece) > room:
            chunks.append([])
            room = MOST_DELTA_QUERIES
        chunks[-1].append(piece)
        room -= size(piece)
    return chunks


def variants_of(group: SignatureGroup) -> int:
    return len(group.disjunct.delta_queries)


def pieces(all_groups: Sequence[SignatureGroup]) -> Iterator[SignatureGroup]:
    """Yield the groups, those with many delta queries in several pieces."""
    for group in all_groups:
        delta_queries = group.disjunct.delta_queries
        for begin in range(0, len(delta_queries), MOST_DELTA_QUERIES):
            some = delta_queries[begin : begin + MOST_DELTA_QUERIES]
            yield SignatureGroup(replace(group.disjunct, delta_queries=some), group.rows)


def _held_at_start(
    engine: Engine, by_id: Mapping[int, Subscription], begun: Collection[Pair]
) -> set[Pair]:
    """Return the pairs whose message matched at the filter's T0 already.

    A filter "from now on" does not deliver those.  Every pair is asked: the message may
    have been there for another audience before the row that matched.
    """
    starting = [by_id[filter_id] for filter_id in sorted({filter_id for filter_id, _ in begun})]
    held: set[Pair] = set()
    for chunk in chunked(groups((s, s.since) for s in starting), lambda _: 1):
        filter_ids = {row.filter_id for group in chunk for row in group.rows}
        asked = [
            (filter_id, msgid, start)
            for filter_id, msgid in sorted(begun)
            if filter_id in filter_ids and (start := by_id[filter_id].start) is not None
        ]
        held |= {(row[0], row[1]) for row in evaluate(engine, lower_among(chunk, asked))}
    return held
