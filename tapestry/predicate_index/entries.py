"""The entries of a filter in the predicate index: one for each disjunct and key."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tapestry.core.ports import DueFilter
from tapestry.plan.compile import Compiled, Plan
from tapestry.plan.predicate_keys import predicate_keys
from tapestry.plan.signature import Constant, values_by_slot
from tapestry.predicate_index.store import IndexEntry


def index_entries(
    due_filter: DueFilter, compiled: Compiled
) -> tuple[list[IndexEntry], dict[str, str]]:
    """Return the entries of a filter, and its text as the representative of its signatures."""
    entries = [
        entry
        for plan in compiled.plans
        for entry in disjunct_entries(due_filter, plan, plan.signature.constants)
    ]
    return entries, {plan.signature.name: due_filter.text for plan in compiled.plans}


def disjunct_entries(
    due_filter: DueFilter, plan: Plan, constants: Sequence[Constant]
) -> list[IndexEntry]:
    """Return the entries of a filter's disjunct that has this plan, with these constants."""
    values = json.dumps([c.value for c in constants], separators=(",", ":"))
    return [
        IndexEntry(
            due_filter.filter_id,
            due_filter.revision,
            plan.disjunct.monotone.index,
            plan.signature.name,
            values,
            due_filter.audiences,
            key.extractor,
            key.offset,
            key.token,
        )
        for key in predicate_keys(plan.disjunct, values_by_slot(constants))
    ]
