"""Run all enrolled filters over one shared window, by the predicate index.

    new rows ─ probe ─> keys ─ lookup ─> candidate groups ─┬─ decide by postings ─┬─> answers
                                                           └─ evaluate ───────────┘
    answers ─ fan out ─> matches

An evaluation group is what many filters have in common: a signature, constants and audiences.  It
is evaluated once, by the plans that a filter with a window of its own is run with
(``execute.py``), and only if one of its predicate keys is among the tokens of the window (the law
of ``plan/predicate_keys.py``).  This is a query split: what filters share is run once, and the
fan-out hands its answers to each.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.ports import DueFilter, FilterStore, Match
from tapestry.core.schema import MESSAGES
from tapestry.plan.compile import Plan, compile_stored
from tapestry.plan.engine import (
    DeferredEngine,
    Engine,
    Row,
    TooManyError,
    TooSlowError,
)
from tapestry.plan.group import ConstantRow, SignatureGroup
from tapestry.plan.signature import Constant
from tapestry.predicate_index.covering import decide
from tapestry.predicate_index.groups import EvaluationGroup, Member, visible_audiences
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.predicate_index.probe import SnapshotRows, candidate_keys
from tapestry.run.execute import (
    Pair,
    decide_matches,
    first_candidates,
    keep_first,
    matched_at_start,
    matching_at,
)
from tapestry.run.limits import run_isolated
from tapestry.run.own_windows import subscribe
from tapestry.run.suspects import require_blame

MOST_ASKED = 100
"""Filters and messages that are asked about T0 at once, before their groups are asked."""


@dataclass(slots=True)
class SharedWindowResult:
    """What the shared window gave: matches, the filters that have matches, those that failed.

    ``stale`` filters are to be detached: the index has another revision of them, or they find
    too much at once, or are among those that took too long (``slow``).
    """

    matches: list[Match] = field(default_factory=list)
    filters: list[DueFilter] = field(default_factory=list)
    stale: set[int] = field(default_factory=set)
    slow: set[int] = field(default_factory=set)
    failed: list[tuple[DueFilter, TapestryError]] = field(default_factory=list)


def run_shared_window(
    engine_on: Callable[[], Engine],
    rows: SnapshotRows,
    lookup: InMemoryLookup,
    store: FilterStore,
    since: int,
    until: int,
    *,
    history_complete: bool,
    seconds: float = math.inf,
) -> SharedWindowResult:
    """Return the matches of all enrolled filters with since < matched_at <= until.

    ``engine_on`` is called only if postings leave something to evaluate.  ``history_complete``:
    no row on which filters may count was ever removed, so what matched at ``since`` was delivered.
    """
    extractors = lookup.extractors()
    keys = candidate_keys(rows, extractors, since, until) if extractors else set()
    candidates = lookup.candidate_groups(keys) if keys else []
    if not candidates:
        return SharedWindowResult()
    texts = lookup.representatives()
    plans = {
        signature: _plan(texts.get(signature, ""), signature)
        for signature in {group.signature for group in candidates}
    }
    planned = [
        (number, plan, group)
        for number, group in enumerate(candidates)
        if (plan := plans[group.signature]) is not None
    ]
    # Of the others no filter has the signature now: another version entered them.
    errors: dict[int, TapestryError | None] = dict.fromkeys(range(len(candidates)))
    for number, _, _ in planned:
        del errors[number]
    decided = decide(rows, planned, since, until)
    numbered_rows = [
        (plan, ConstantRow(number, 0, _constants(plan, group), group.audiences, since, until))
        for number, plan, group in planned
        if number not in decided.groups
    ]
    engine = DeferredEngine(engine_on)

    def find_rows(numbered_rows: Sequence[tuple[Plan, ConstantRow]]) -> list[Row]:
        groups = _signature_groups(numbered_rows)
        with engine.limit(seconds):
            return first_candidates(engine, groups, until)

    answers, failures = run_isolated(find_rows, numbered_rows, lambda item: item[0].signature.key)
    if failures:
        require_blame(engine, {plan.signature.key for (plan, _), _ in failures})
    errors |= {row.filter_id: error for (_, row), error in failures}

    def matched_at_since(answers: Collection[Pair]) -> set[Pair]:
        numbers = {number for number, _ in answers}
        groups = _signature_groups(item for item in numbered_rows if item[1].filter_id in numbers)
        matching: set[Pair] = set()
        # It only saves work: each filter is asked about its T0.
        with suppress(TapestryError), engine.limit(seconds):
            matching = matching_at(engine, groups, ((*answer, since) for answer in answers))
        return matching

    return fan_out(
        engine,
        rows,
        lookup,
        store,
        candidates,
        [*decided.answers, *answers],
        errors,
        matched_at_since if history_complete else None,
    )


def _signature_groups(items: Iterable[tuple[Plan, ConstantRow]]) -> list[SignatureGroup]:
    return [
        SignatureGroup(plan.disjunct, tuple(row for _, row in same_plan))
        for plan, same_plan in groupby(items, itemgetter(0))
    ]


def _constants(plan: Plan, group: EvaluationGroup) -> tuple[Constant, ...]:
    constants = zip(plan.signature.constants, json.loads(group.constants), strict=True)
    return tuple(replace(c, value=tuple(value) if c.many else value) for c, value in constants)


def _plan(text: str, signature: str) -> Plan | None:
    """Return the plan of a signature, given a filter that had it; None if none has it now."""
    try:
        compiled = compile_stored(text, None, (), live=False)
    except TapestryError:
        return None
    return next((plan for plan in compiled.plans if plan.signature.name == signature), None)


def fan_out(
    engine: Engine,
    rows: SnapshotRows,
    lookup: InMemoryLookup,
    store: FilterStore,
    groups: Sequence[EvaluationGroup],
    answers: Sequence[Row],
    errors: Mapping[int, TapestryError | None],
    matched_at_since: Callable[[Collection[Pair]], set[Pair]] | None,
) -> SharedWindowResult:
    """Return what the answers of groups are for the filters that belong to them [Chen00 §3.3].

    The predicate index may lag behind the database, so the application is asked for each member: a
    filter that is not what the index says is stale, and is given a window of its own.

    Rows of ``answers`` and ``errors`` name a group by its number in ``groups``.  The error of a
    group without a plan is None: its members are stale.  ``matched_at_since`` tells of groups and
    messages which matched where the window begins; it is asked before many filters are asked one
    by one about their T0.  None if history is not complete.
    """
    result = SharedWindowResult()
    numbers = {row[0] for row in answers} | set(errors)
    if not numbers:
        return result
    members = set(lookup.members([groups[number] for number in numbers]))
    enrolled = store.enrolled({member.filter_id for member in members})
    due = {due_filter.filter_id: due_filter for due_filter in enrolled}
    members_of: dict[EvaluationGroup, list[Member]] = defaultdict(list)
    visible = {
        audiences: visible_audiences(audiences, lookup.present)
        for audiences in {due_filter.audiences for due_filter in enrolled}
    }
    for member in members:
        due_filter = due.get(member.filter_id)
        if due_filter is None or due_filter.revision != member.revision:
            continue
        if visible[due_filter.audiences] == member.group.audiences:
            members_of[member.group].append(member)
        else:
            result.stale.add(member.filter_id)
    failed: dict[int, TapestryError] = {}
    for number, error in errors.items():
        filter_ids = {member.filter_id for member in members_of[groups[number]]}
        if error is None or isinstance(error, TooManyError | TooSlowError):
            result.stale |= filter_ids
            result.slow |= filter_ids if isinstance(error, TooSlowError) else set()
        else:
            failed |= dict.fromkeys(filter_ids, error)
    result.failed = [
        (due[filter_id], error)
        for filter_id, error in sorted(failed.items())
        if filter_id not in result.stale
    ]

    def rows_of_filters() -> Iterator[Row]:
        for number, msgid, audience, ts, c, _, evidence in answers:
            for member in members_of[groups[number]]:
                if member.filter_id not in failed and member.filter_id not in result.stale:
                    yield member.filter_id, msgid, audience, ts, c, member.disjunct, evidence

    first: dict[Pair, Row] = {}
    keep_first(first, rows_of_filters())
    starts = {filter_id: due[filter_id].start for filter_id, _ in first}

    def matched_before(pairs: Collection[Pair]) -> set[Pair]:
        arrived = _first_arrivals(rows, {msgid for _, msgid in pairs})
        asked = {(i, msgid) for i, msgid in pairs if arrived[msgid] <= (starts[i] or BEGINNING)}
        msgids = {msgid for _, msgid in asked}
        old: set[Pair] = set()
        if matched_at_since is not None and len(asked) > MOST_ASKED:
            for number, msgid in matched_at_since(
                {(row[0], row[1]) for row in answers if row[1] in msgids}
            ):
                old |= {(member.filter_id, msgid) for member in members_of[groups[number]]}
        return old | matched_at_start(engine, lambda i: subscribe(due[i]), asked - old)

    result.matches = decide_matches(first.values(), starts, store.known, matched_before)
    matching = {match.filter_id for match in result.matches}
    result.filters = [due[filter_id] for filter_id in sorted(matching)]
    return result


def _first_arrivals(rows: SnapshotRows, msgids: Collection[str]) -> dict[str, int]:
    """Return when each message first was there: before, no filter matched it."""
    found = rows.having(MESSAGES, "msgid", msgids, ["msgid", "ts"])
    arrived: dict[str, int] = {}
    for msgid, ts in zip(found["msgid"].to_pylist(), found["ts"].to_pylist(), strict=True):
        arrived[msgid] = min(ts, arrived.get(msgid, ts))
    return arrived
