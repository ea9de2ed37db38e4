"""What postings decide, beside what the statement of an engine gives for the same groups."""

import json
from itertools import groupby
from operator import itemgetter

from tapestry.plan.compile import compile_filter
from tapestry.plan.group import ConstantRow, SignatureGroup
from tapestry.predicate_index.covering import decide
from tapestry.predicate_index.groups import EvaluationGroup
from tapestry.query.context import Context
from tapestry.run.execute import first_candidates, keep_first
from tests.support.engines.memory_index import DictRows


def decided_and_evaluated(texts, audiences, messages, since, until, engine):
    """Return the groups that postings decide, by number, their answers, and the statement's."""
    plans = sorted(
        (plan for text in texts for plan in compile_filter(text, Context("ann")).plans),
        key=lambda plan: plan.signature.key,
    )
    first_of = {plan.signature.key: plan for plan in reversed(plans)}
    numbered, items = [], []
    for number, plan in enumerate(plans):
        constants = json.dumps([constant.value for constant in plan.signature.constants])
        group = EvaluationGroup(plan.signature.name, constants, audiences)
        shared = first_of[plan.signature.key]
        numbered.append((number, shared, group))
        row = ConstantRow(number, 0, plan.signature.constants, audiences, since, until)
        items.append((shared, row))
    found = decide(DictRows({"messages": messages}), numbered, since, until)
    first = {}
    keep_first(first, found.answers)
    items = [item for item in items if item[1].filter_id in found.groups]
    groups = [
        SignatureGroup(plan.disjunct, tuple(row for _, row in alike))
        for plan, alike in groupby(items, itemgetter(0))
    ]
    return found.groups, set(first.values()), set(first_candidates(engine, groups, until))
