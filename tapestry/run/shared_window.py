"""Run all enrolled filters over one shared window, by the predicate index.

    new rows ─ probe ─> keys ─ lookup ─> candidate groups ─ evaluate ─> answers ─ fan out ─> matches

An evaluation group is what many filters have in common: a signature, constants and audiences.  It
is evaluated once, by the plans that a filter with a window of its own is run with
(``execute.py``), and only if one of its predicate keys is among the tokens of the window (the law
of ``plan/predicate_keys.py``).
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.plan.compile import Plan, compile_stored
from tapestry.plan.engine import Engine, Row, check_engine
from tapestry.plan.group import ConstantRow, SignatureGroup
from tapestry.predicate_index.groups import EvaluationGroup, IndexLookup
from tapestry.predicate_index.probe import Rows, candidate_keys
from tapestry.run.execute import first_candidates, matching_at
from tapestry.run.fan_out import EnrolledFilters, SharedWindowResult, fan_out
from tapestry.run.limits import set_aside

log = logging.getLogger(__name__)


def run_shared_window(
    engine_on: Callable[[], Engine],
    rows: Rows,
    lookup: IndexLookup,
    store: EnrolledFilters,
    present: Collection[str],
    since: int,
    until: int,
    *,
    history_complete: bool,
) -> SharedWindowResult:
    """Return the matches of all enrolled filters with since < matched_at <= until.

    ``present`` are the audiences of any row: those that no row has make no difference.  No
    engine is asked for unless there are candidate groups.  ``history_complete``: no row was ever
    removed without the filters being told, so that what matched at ``since`` was delivered.
    """
    extractors = lookup.extractors()
    keys = candidate_keys(rows, extractors, since, until) if extractors else set()
    candidates = lookup.candidate_groups(keys, present) if keys else []
    if not candidates:
        return SharedWindowResult()
    engine = engine_on()
    by_signature, unknown = _signature_groups(lookup, candidates, since, until)

    def find_rows(groups: Sequence[SignatureGroup]) -> list[Row]:
        found = first_candidates(engine, groups, until)
        return _not_matching_before(engine, groups, found, since) if history_complete else found

    answers, errors = _run_isolated(engine, by_signature, find_rows)
    numbers = {row[0] for row in answers} | set(errors) | unknown
    if not numbers:
        return SharedWindowResult()
    groups = {number: candidates[number] for number in numbers}
    return fan_out(engine, lookup, store, present, groups, answers, errors)


def _signature_groups(
    lookup: IndexLookup, candidates: Sequence[EvaluationGroup], since: int, until: int
) -> tuple[list[SignatureGroup], set[int]]:
    """Return the candidate groups as constant rows; their numbers stand for filter_ids.

    And the numbers of those whose signature no filter has: another version entered them.
    """
    unknown: set[int] = set()
    constant_rows: dict[str, list[ConstantRow]] = defaultdict(list)
    plans: dict[str, Plan | None] = {}
    texts = lookup.representatives()
    for number, group in enumerate(candidates):
        if group.signature not in plans:
            plans[group.signature] = _plan(texts.get(group.signature, ""), group.signature)
        plan = plans[group.signature]
        if plan is None:
            unknown.add(number)
            continue
        values = json.loads(group.constants)
        constants = tuple(
            replace(constant, value=tuple(value) if constant.many else value)
            for constant, value in zip(plan.signature.constants, values, strict=True)
        )
        row = ConstantRow(number, 0, constants, group.audiences, since, until)
        constant_rows[group.signature].append(row)
    groups = [
        SignatureGroup(plan.disjunct, tuple(constant_rows[signature]))
        for signature, plan in plans.items()
        if plan is not None
    ]
    return groups, unknown


def _run_isolated(
    engine: Engine,
    groups: Sequence[SignatureGroup],
    run: Callable[[Sequence[SignatureGroup]], list[Row]],
) -> tuple[list[Row], dict[int, TapestryError]]:
    """Return the answers of the groups; where not all can be run, of those that can.

    Errors come by the number of the evaluation group.
    """
    try:
        return run(groups), {}
    except TapestryError as error:
        log.warning("Not all at once: %s", error.message)
    answers: list[Row] = []
    errors: dict[int, TapestryError] = {}
    for group in groups:

        def run_rows(rows: Sequence[ConstantRow], group: SignatureGroup = group) -> list[Row]:
            return run([replace(group, rows=tuple(rows))])

        found, failures = set_aside(run_rows, group.rows)
        answers += found
        errors |= {row.filter_id: error for row, error in failures}
    check_engine(engine)
    return answers, errors


def _not_matching_before(
    engine: Engine, groups: Sequence[SignatureGroup], rows: Sequence[Row], since: int
) -> list[Row]:
    """Return the candidates without those that matched at ``since``: they were delivered.

    Only the general strategy finds such candidates.
    """
    general = [g for g in groups if any(q.rule == "general" for q in g.disjunct.delta_queries)]
    old = matching_at(engine, general, ((row[0], row[1], since) for row in rows))
    return [row for row in rows if (row[0], row[1]) not in old]


def _plan(text: str, signature: str) -> Plan | None:
    """Return the plan of a signature, given a filter that had it; None if none has it now."""
    try:
        compiled = compile_stored(text, None, (), live=False)
    except TapestryError:
        return None
    return next((plan for plan in compiled.plans if plan.signature.name == signature), None)
