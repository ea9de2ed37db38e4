"""Run filters over their windows, and return what newly matched [Terry92 §4].

    filters ─ compile ─> groups ─ lower ─> one statement ─ engine ─> candidates ─ decide ─> matches

Filters of one signature share a statement, as rows of its constant table: multi-query
optimization [Chen00 §3].  The engine is Spark in the product; anything that answers a Statement
serves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import attrgetter, itemgetter

from tapestry.core.completeness import Completeness
from tapestry.core.ports import Match
from tapestry.plan.compile import Compiled
from tapestry.plan.engine import Engine, Row, evaluate
from tapestry.plan.group import ConstantRow, SignatureGroup
from tapestry.plan.lowering.lower import lower, lower_among
from tapestry.plan.relation import SEPARATOR
from tapestry.plan.signature import Constant
from tapestry.plan.validity import groups_while_valid
from tapestry.rewrite.stages import IncrementalDisjunct

MOST_DELTA_QUERIES = 12
"""Delta queries in one statement: more share its fixed cost, but take longer to plan."""

Pair = tuple[int, str]
"""A filter and a msgid."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One filter in one run.

    ``start`` is its T0, or None where it takes existing mail; ``until`` ends its window
    where the run does not.  ``completeness`` is the clock of one that waits; in its window that
    goes from ``clock[0]`` to ``clock[1]``, and as all time does where that is None.
    """

    filter_id: int
    compiled: Compiled
    audiences: tuple[str, ...]
    since: int
    start: int | None = None
    until: int | None = None
    completeness: Completeness | None = None
    clock: tuple[int, int] | None = None

    def windows(self, until: int) -> Iterator[tuple[Subscription, int]]:
        """Yield the pieces of its window over which its clock goes with time, or stands."""
        until = until if self.until is None else self.until
        if self.completeness is None:
            yield self, until
            return
        for begin, end, low, high in self.completeness.pieces(self.since, until):
            yield replace(self, since=begin, clock=(low, high)), end


def execute(
    engine: Engine,
    subscriptions: Iterable[Subscription],
    until: int,
    known: Callable[[Collection[Pair]], set[Pair]],
) -> list[Match]:
    """Return every match with since < matched_at <= until, each filter by its own since.

    ``known`` returns those of some (filter_id, msgid) pairs that were delivered before; a
    filter's windows must follow each other without a gap.  Matches come in the order of
    filter_id, matched_at, msgid.
    """
    by_id = {s.filter_id: s for s in subscriptions}
    pieces = [(piece, end) for s in by_id.values() for piece, end in s.windows(until)]
    rows = _first_of_pieces(engine, pieces, until)
    starts = {filter_id: s.start for filter_id, s in by_id.items()}
    matched = partial(matched_at_start, engine, by_id.__getitem__)
    return decide_matches(rows, starts, known, matched)


def _first_of_pieces(
    engine: Engine, pieces: Sequence[tuple[Subscription, int]], until: int
) -> list[Row]:
    """Return the first candidate of every (filter_id, msgid) in the pieces of the windows.

    A piece is a row of the constant table, as if it were a filter.
    """
    numbered = [(replace(piece, filter_id=n), end) for n, (piece, end) in enumerate(pieces)]
    first: dict[Pair, Row] = {}
    rows = first_candidates(engine, signature_groups(numbered), until)
    keep_first(first, ((pieces[row[0]][0].filter_id, *row[1:]) for row in rows))
    return list(first.values())


def decide_matches(
    rows: Collection[Row],
    starts: Mapping[int, int | None],
    known: Callable[[Collection[Pair]], set[Pair]],
    matched_at_start: Callable[[Collection[Pair]], set[Pair]],
    explain: Callable[[int, int], str] = lambda filter_id, disjunct: "",
) -> list[Match]:
    """Return the matches among candidates: neither delivered before nor matched at T0.

    ``starts`` gives each filter's T0; ``matched_at_start`` is asked for those that have one, and
    ``explain`` for the words of a filter's disjunct.
    """
    pairs = {(row[0], row[1]) for row in rows}
    old = known(pairs) if pairs else set()
    from_now_on = {pair for pair in pairs if starts[pair[0]] is not None} - old
    if from_now_on:
        old |= matched_at_start(from_now_on)
    matches = [
        _match(row, row[0], explain(row[0], row[5])) for row in rows if (row[0], row[1]) not in old
    ]
    return sorted(matches, key=_delivery_order)


def execute_windows(
    engine: Engine, subscriptions: Iterable[Subscription], instants: Sequence[int]
) -> list[list[Match]]:
    """Return the matches of each window (T0, T1], (T1, T2], … that ends at the instants.

    Every filter starts at its own since, with existing mail.  A filter and a window are a
    row of the constant table, so all windows share statements.
    """
    filters = list(subscriptions)
    starts = [None, *instants[:-1]]
    windows = [
        (replace(s, filter_id=n * len(instants) + run, since=s.since if low is None else low), high)
        for n, s in enumerate(filters)
        for run, (low, high) in enumerate(zip(starts, instants, strict=True))
    ]
    runs: list[list[Match]] = [[] for _ in instants]
    delivered: set[Pair] = set()
    rows = first_candidates(engine, signature_groups(windows), max(instants, default=0))
    for row in sorted(rows, key=itemgetter(0)):
        n, run = divmod(row[0], len(instants))
        match = _match(row, filters[n].filter_id)
        if (match.filter_id, match.msgid) not in delivered:
            delivered.add((match.filter_id, match.msgid))
            runs[run].append(match)
    return [sorted(run, key=_delivery_order) for run in runs]


def first_candidates(engine: Engine, groups: Sequence[SignatureGroup], until: int) -> list[Row]:
    """Return the first candidate of every (filter_id, msgid)."""
    first: dict[Pair, Row] = {}
    for batch in batched_delta_queries(groups_while_valid(groups, engine.covers)):
        statement = lower(batch, until, engine.covers)
        keep_first(first, evaluate(engine, statement) if statement else ())
    return list(first.values())


def keep_first(first: dict[Pair, Row], rows: Iterable[Row]) -> None:
    """Put each candidate into ``first``, unless an earlier one of its filter and message is."""
    for row in rows:
        other = first.setdefault((row[0], row[1]), row)
        if other is not row and _order(row) < _order(other):
            first[row[0], row[1]] = row


_order = itemgetter(4, 5, 6, 2)
"""Candidates of a message: by instant, disjunct, evidence, audience."""

_delivery_order = attrgetter("filter_id", "matched_at", "msgid")


def _match(row: Row, filter_id: int, explanation: str = "") -> Match:
    _, msgid, audience, _, c, disjunct, evidence = row
    return Match(filter_id, msgid, audience, c, disjunct, keys_of(evidence), explanation)


@lru_cache(maxsize=10_000)
def keys_of(evidence: str) -> tuple[str, ...]:
    """Return the keys of a row's evidence; many matches share them."""
    return tuple(evidence.split(SEPARATOR)) if evidence else ()


def signature_groups(windows: Iterable[tuple[Subscription, int]]) -> list[SignatureGroup]:
    """Return the disjuncts of subscriptions, each with the end of its window, by signature."""
    gathered: dict[str, tuple[IncrementalDisjunct, list[ConstantRow]]] = {}
    for s, until in windows:
        for plan in s.compiled.plans:
            index, constants = plan.disjunct.monotone.index, plan.signature.constants
            constants = _with_clock(constants, s, until)
            row = ConstantRow(s.filter_id, index, constants, s.audiences, s.since, until)
            gathered.setdefault(plan.signature.key, (plan.disjunct, []))[1].append(row)
    return [SignatureGroup(disjunct, tuple(rows)) for disjunct, rows in gathered.values()]


def _with_clock(
    constants: tuple[Constant, ...], s: Subscription, until: int
) -> tuple[Constant, ...]:
    """Return constants with those of the clock of a filter that waits."""
    if not any(constant.use in _CLOCK for constant in constants):
        return constants
    low, high = s.clock or (s.since, until)
    clock: dict[str | None, int] = {"since": s.since, "low": low, "high": high}
    return tuple(replace(c, value=clock.get(c.use, c.value)) for c in constants)


_CLOCK = ("since", "low", "high")


def batched_groups(
    groups: Iterable[SignatureGroup], size: Callable[[SignatureGroup], int] = lambda _: 1
) -> list[list[SignatureGroup]]:
    """Return the groups of each statement, a few in one, as is good for planning it."""
    batches: list[list[SignatureGroup]] = []
    room = 0
    for group in groups:
        if size(group) > room:
            batches.append([])
            room = MOST_DELTA_QUERIES
        batches[-1].append(group)
        room -= size(group)
    return batches


def batched_delta_queries(groups: Iterable[SignatureGroup]) -> list[list[SignatureGroup]]:
    """Return the groups of each statement; one with many delta queries is in several."""
    parts: list[SignatureGroup] = []
    for group in groups:
        delta_queries = group.disjunct.delta_queries
        for begin in range(0, len(delta_queries), MOST_DELTA_QUERIES):
            batch = delta_queries[begin : begin + MOST_DELTA_QUERIES]
            parts.append(replace(group, disjunct=replace(group.disjunct, delta_queries=batch)))
    return batched_groups(parts, lambda group: len(group.disjunct.delta_queries))


def matching_at(
    engine: Engine, groups: Iterable[SignatureGroup], instants: Iterable[tuple[int, str, int]]
) -> set[Pair]:
    """Return the pairs that match at their instant, of (filter_id, msgid, instant) in the groups.

    A semi-join of Q(t) with the messages given.
    """
    matching: set[Pair] = set()
    wanted = sorted(instants)
    for batch in batched_groups(groups_while_valid(groups, engine.covers)):
        filter_ids = {row.filter_id for group in batch for row in group.rows}
        among = [triple for triple in wanted if triple[0] in filter_ids]
        if among:
            matching |= {(row[0], row[1]) for row in evaluate(engine, lower_among(batch, among))}
    return matching


def _clock_at(start: int | None, clock: Completeness | None) -> tuple[int, int] | None:
    """Return where the clock of a filter stands at its T0."""
    if clock is not None and clock.at_start is not None:
        start = clock.at_start
    return None if start is None else (start, start)


def matched_at_start(
    engine: Engine, subscription: Callable[[int], Subscription], pairs: Collection[Pair]
) -> set[Pair]:
    """Return the pairs whose message matched at the filter's T0 already.

    Every pair is asked: the message may have been there for another audience before the row
    that matched.
    """
    by_id = {filter_id: subscription(filter_id) for filter_id in {pair[0] for pair in pairs}}
    at_start = [
        (replace(s, clock=_clock_at(s.start, s.completeness)), s.since)
        for _, s in sorted(by_id.items())
    ]
    groups = signature_groups(at_start)
    instants = [
        (filter_id, msgid, start)
        for filter_id, msgid in pairs
        if (start := by_id[filter_id].start) is not None
    ]
    return matching_at(engine, groups, instants)
