"""Run all filters of the index over one window: wake, evaluate, and hand out.

    new rows ─ tokens ─> keys ─ join ─> classes ─ evaluate ─> answers ─ join ─> filters ─> matches

A class is what many filters have in common: a signature, the constants and what may be seen.
It is evaluated once, by the very plans a filter is run with alone (``execute.py``), and only
if some key of it is among the tokens of the window (the law of ``plan/predicate_keys.py``).
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tapestry.core.errors import TapestryError
from tapestry.core.ports import DueFilter, Match
from tapestry.plan.compile import Compiled, Plan, compile_due, compile_stored
from tapestry.plan.engine import Engine, Row, TooManyError, check_engine, evaluate
from tapestry.plan.group import ConstantRow, SignatureGroup
from tapestry.plan.lowering.lower import lower_among
from tapestry.plan.predicate_keys import predicate_keys
from tapestry.plan.signature import Constant
from tapestry.predicate_index.groups import EvaluationGroup, IndexLookup, Member, visible_audiences
from tapestry.predicate_index.probe import Rows, candidate_keys
from tapestry.predicate_index.store import IndexEntry
from tapestry.run.execute import Pair, Subscription, candidates, chunked, decided, rank
from tapestry.run.limits import set_aside

log = logging.getLogger(__name__)


@dataclass(slots=True)
class SharedWindowResult:
    """What a joint run found: matches, the filters that found them, and those that failed.

    ``stale`` must run by themselves: they are not what the index says any more, or find
    too much at once.
    """

    matches: list[Match] = field(default_factory=list)
    filters: list[DueFilter] = field(default_factory=list)
    stale: set[int] = field(default_factory=set)
    failed: list[tuple[DueFilter, str]] = field(default_factory=list)


class Store(Protocol):
    """What a joint run asks of the application."""

    def enrolled(self, ids: Collection[int]) -> Sequence[DueFilter]: ...

    def known(self, pairs: Collection[Pair]) -> set[Pair]: ...


def index_entries(due: DueFilter, compiled: Compiled) -> tuple[list[IndexEntry], dict[str, str]]:
    """Return what to enter of a filter, and its text as the example of its signatures."""
    entries = [
        entry
        for plan in compiled.plans
        for entry in disjunct_entries(due, plan, plan.signature.constants)
    ]
    return entries, {plan.signature.name: due.text for plan in compiled.plans}


def disjunct_entries(due: DueFilter, plan: Plan, constants: Sequence[Constant]) -> list[IndexEntry]:
    """Return what to enter of a disjunct: that of a plan, with these constants as its own."""
    values = json.dumps([c.value for c in constants], separators=(",", ":"))
    return [
        IndexEntry(
            due.filter_id,
            due.revision,
            plan.disjunct.monotone.index,
            plan.signature.name,
            values,
            due.audiences,
            key.extractor,
            key.offset,
            key.token,
        )
        for key in predicate_keys(plan.disjunct, {c.slot: c.value for c in constants})
    ]


def run_shared_window(
    engine_on: Callable[[], Engine],
    rows: Rows,
    lookup: IndexLookup,
    store: Store,
    present: Collection[str],
    since: int,
    until: int,
    *,
    whole: bool = True,
) -> SharedWindowResult:
    """Return the matches of all joined filters with since < matched_at <= until.

    ``present`` are the audiences of any row: those that no row has make no difference.  No
    engine is asked for unless something is awake.  ``whole``: no row was ever removed unknown
    to the filters, so that what held at ``since`` has been delivered.
    """
    extractors = lookup.extractors()
    keys = candidate_keys(rows, extractors, since, until) if extractors else set()
    awake = lookup.candidate_groups(keys, present) if keys else []
    if not awake:
        return SharedWindowResult()
    engine = engine_on()
    groups, unknown = _groups(lookup, awake, since, until)

    def evaluate(some: Sequence[SignatureGroup]) -> list[Row]:
        found = candidates(engine, some, until)
        return _fresh(engine, some, found, since) if whole else found

    found, broken = _evaluated(engine, groups, evaluate)
    classes = {n: awake[n] for n in {row[0] for row in found} | set(broken) | unknown}
    if not classes:
        return SharedWindowResult()
    return _handed_out(engine, lookup, store, present, classes, found, broken)


def _groups(
    lookup: IndexLookup, awake: Sequence[EvaluationGroup], since: int, until: int
) -> tuple[dict[str, SignatureGroup], set[int]]:
    """Return the classes as rows of one group a signature; their numbers stand for filters.

    And the numbers of those whose signature no filter has: another version entered them.
    """
    unknown: set[int] = set()
    gathered: dict[str, list[ConstantRow]] = defaultdict(list)
    plans: dict[str, Plan | None] = {}
    texts = lookup.representatives()
    for number, one in enumerate(awake):
        if one.signature not in plans:
            plans[one.signature] = _plan(texts.get(one.signature, ""), one.signature)
        plan = plans[one.signature]
        if plan is None:
            unknown.add(number)
            continue
        constants = tuple(
            replace(constant, value=tuple(value) if constant.many else value)
            for constant, value in zip(
                plan.signature.constants, json.loads(one.constants), strict=True
            )
        )
        row = ConstantRow(number, 0, constants, one.audiences, since, until)
        gathered[one.signature].append(row)
    groups = {
        signature: SignatureGroup(plan.disjunct, tuple(gathered[signature]))
        for signature, plan in plans.items()
        if plan is not None
    }
    return groups, unknown


def _evaluated(
    engine: Engine,
    groups: Mapping[str, SignatureGroup],
    evaluate: Callable[[Sequence[SignatureGroup]], list[Row]],
) -> tuple[list[Row], dict[int, TapestryError]]:
    """Return the answers of the groups; where not all can be run, those that can.

    What fails comes by the number of its class.
    """
    try:
        return evaluate(list(groups.values())), {}
    except TapestryError as error:
        log.warning("Not all together: %s", error.message)
    found: list[Row] = []
    broken: dict[int, TapestryError] = {}
    for group in groups.values():

        def run(rows: Sequence[ConstantRow], group: SignatureGroup = group) -> list[Row]:
            return evaluate([replace(group, rows=tuple(rows))])

        some, over = set_aside(run, group.rows)
        found += some
        broken |= {row.filter_id: error for row, error in over}
    check_engine(engine)
    return found, broken


def _fresh(
    engine: Engine, groups: Sequence[SignatureGroup], found: Sequence[Row], since: int
) -> list[Row]:
    """Return the candidates without what held at ``since``: joined filters have delivered that."""
    again = [g for g in groups if any(v.rule == "general" for v in g.disjunct.delta_queries)]
    held: set[Pair] = set()
    for chunk in chunked(again, lambda _: 1):
        numbers = {row.filter_id for group in chunk for row in group.rows}
        asked = [(row[0], row[1], since) for row in found if row[0] in numbers]
        if asked:
            held |= {(row[0], row[1]) for row in evaluate(engine, lower_among(chunk, asked))}
    return [row for row in found if (row[0], row[1]) not in held]


def _handed_out(
    engine: Engine,
    lookup: IndexLookup,
    store: Store,
    present: Collection[str],
    classes: Mapping[int, EvaluationGroup],
    found: Sequence[Row],
    broken: Mapping[int, TapestryError],
) -> SharedWindowResult:
    """Return what the answers of classes are for the filters that belong to them."""
    holders = lookup.members(list(classes.values()), present)
    due = {one.filter_id: one for one in store.enrolled({holder.filter_id for holder in holders})}
    shown = frozenset(present)
    held: dict[EvaluationGroup, list[Member]] = defaultdict(list)
    joint = SharedWindowResult()
    evaluated = {classes[n] for n in {row[0] for row in found} | set(broken)}
    for holder in set(holders):
        one = due.get(holder.filter_id)
        if one is None or one.revision != holder.revision:
            continue
        if (
            holder.of in evaluated
            and visible_audiences(one.audiences, shown) == holder.of.audiences
        ):
            held[holder.of].append(holder)
        else:
            joint.stale.add(holder.filter_id)
    for number, error in broken.items():
        if isinstance(error, TooManyError):
            joint.stale |= {holder.filter_id for holder in held[classes[number]]}
    failed = {
        holder.filter_id: error.message
        for number, error in broken.items()
        for holder in held[classes[number]]
        if holder.filter_id not in joint.stale
    }
    joint.failed = [(due[filter_id], message) for filter_id, message in sorted(failed.items())]
    first: dict[Pair, Row] = {}
    for number, msgid, audience, ts, c, _, why in found:
        for holder in held[classes[number]]:
            if holder.filter_id in failed or holder.filter_id in joint.stale:
                continue
            row = (holder.filter_id, msgid, audience, ts, c, holder.disjunct, why)
            other = first.setdefault((holder.filter_id, msgid), row)
            if rank(row) < rank(other):
                first[holder.filter_id, msgid] = row
    starts = {filter_id: due[filter_id].start for filter_id, _ in first}

    def subscription(filter_id: int) -> Subscription:
        one = due[filter_id]
        return Subscription(filter_id, compile_due(one), one.audiences, one.since, one.start)

    joint.matches = decided(engine, list(first.values()), starts, subscription, store.known)
    joint.filters = [
        due[filter_id] for filter_id in sorted({match.filter_id for match in joint.matches})
    ]
    return joint


def _plan(text: str, signature: str) -> Plan | None:
    """Return the plan of a signature, given a filter that had it; None if none has it now."""
    try:
        compiled = compile_stored(text, None, (), live=False)
    except TapestryError:
        return None
    return next((plan for plan in compiled.plans if plan.signature.name == signature), None)
