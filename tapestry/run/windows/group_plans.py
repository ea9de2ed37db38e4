"""The plans of evaluation groups: that of a filter with the signature, with a group's constants.

signatures ─ representative ─┬─ compile ─> plans
                             └─ fails ─ another filter of the signature ─> plans
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.core.ports import FilterStore
from tapestry.plan.compile import Plan, compile_due, compile_stored
from tapestry.plan.signature import Constant
from tapestry.predicate_index.groups import EvaluationGroup
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.run.limits.isolation import isolate

MOST_REPRESENTING = 20
"""Filters of a signature that are tried where its representative fails."""


def signature_plans(
    groups: Sequence[EvaluationGroup], lookup: InMemoryLookup, store: FilterStore
) -> tuple[dict[str, Plan | None], dict[str, Exception]]:
    """Return the plan of each signature, None if no filter has it now; and the errors met."""
    texts = lookup.representatives()

    def plan_each(signatures: Sequence[str]) -> list[tuple[str, Plan | None]]:
        return [(name, _plan(texts.get(name, ""), name)) for name in signatures]

    planned, failures = isolate(plan_each, sorted({group.signature for group in groups}))
    plans = dict(planned)
    for name, _ in failures:
        alike = [group for group in groups if group.signature == name]
        plans[name] = _plan_of_member(name, alike, lookup, store)
    return plans, dict(failures)


def group_constants(plan: Plan, group: EvaluationGroup) -> tuple[Constant, ...]:
    """Return the constants of a group, as its plan's signature has them."""
    constants = zip(plan.signature.constants, json.loads(group.constants), strict=True)
    return tuple(replace(c, value=tuple(value) if c.many else value) for c, value in constants)


def _plan(text: str, signature: str) -> Plan | None:
    """Return the plan of a signature, given a filter that had it; None if none has it now."""
    try:
        compiled = compile_stored(text, None, (), live=False)
    except TapestryError:
        return None
    return next((plan for plan in compiled.plans if plan.signature.name == signature), None)


def _plan_of_member(
    signature: str,
    groups: Sequence[EvaluationGroup],
    lookup: InMemoryLookup,
    store: FilterStore,
) -> Plan | None:
    """Return the plan of a signature whose representative fails, given another filter of it."""
    filter_ids = sorted(lookup.filters_of(groups))[:MOST_REPRESENTING]

    def plans_of(some: Sequence[int]) -> list[Plan]:
        plans = (plan for due in store.enrolled(some) for plan in compile_due(due).plans)
        return [plan for plan in plans if plan.signature.name == signature]

    plans, _ = isolate(plans_of, filter_ids)
    return plans[0] if plans else None
