"""Sequences as they are written: rows one after the other, and what did not come between."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tests.simulation.auditor.nodes import And, Binding, Node, Sequence, Step, free
from tests.simulation.auditor.parts import Env, Test, all_of
from tests.simulation.auditor.spans import (
    ALL,
    FOREVER,
    Spans,
    meet,
    sure,
    union_all,
    without,
)

Rows = Callable[[Env, Spans], list[tuple[Env, Spans]]]
"""Gives the rows of one variable beside those that are bound, each with when it counts."""


def moment(row: dict[str, Any]) -> int:
    """Return when a row came."""
    at: int = row["ts"] if "annid" in row else row["received"]
    return at


def compiled(
    node: Sequence,
    rows_of: Callable[[Binding, list[Node]], Rows],
    condition: Callable[[Node], Test],
) -> Test:
    """Compile a sequence without repetition, given how a variable and a condition are."""
    waiting = list(node.condition.args if isinstance(node.condition, And) else (node.condition,))
    missing = [(step, step.bindings[0]) for step in node.steps if step.negated]
    absent = []
    for step, binding in missing:
        about = [test for test in waiting if binding.var in free(test)]
        absent.append((step, rows_of(binding, about)))
        waiting = [test for test in waiting if test not in about]
    new = [b for step in node.steps if not step.negated for b in step.bindings if b.table]
    unbound = {b.var for b in new}
    around = [condition(test) for test in waiting if not free(test) & unbound]
    waiting = [test for test in waiting if free(test) & unbound]
    plan = []
    for binding in new:
        unbound.discard(binding.var)
        ready = [test for test in waiting if not free(test) & unbound]
        waiting = [test for test in waiting if free(test) & unbound]
        plan.append(rows_of(binding, ready))

    def comes(env: Env) -> Spans:
        partial: list[tuple[Env, Spans]] = [(env, ALL)]
        for rows in plan:
            partial = [row for outer, spans in partial for row in rows(outer, spans)]
        return union_all(_unbroken(node.steps, absent, *found) for found in partial)

    test: Test = all_of([*around, lambda env: sure(comes(env))])
    return (lambda env: sure(test(env)[0])) if new else test


def _unbroken(
    steps: tuple[Step, ...], absent: list[tuple[Step, Rows]], env: Env, spans: Spans
) -> Spans:
    """Return when rows are there in this order and nothing that must not come is."""
    coming = [step for step in steps if not step.negated]
    for before, after in pairwise(coming):
        for gap in _gaps(_moments(before, env), _moments(after, env)):
            if gap <= 0 or (after.within is not None and gap > after.within):
                return ()
    for step, rows in absent:
        place = steps.index(step)
        before = [one for one in steps[:place] if not one.negated][-1:]
        after = [one for one in steps[place:] if not one.negated][:1]
        lasts = [at for one in before for at in _moments(one, env)]
        firsts = [at for one in after for at in _moments(one, env)]
        if not after:
            over = max(lasts) + (step.within or 0) + 1
            spans = meet(spans, ((over, FOREVER),))
        name = step.bindings[0].var
        broken = [
            there
            for inner, there in rows(env, ALL)
            if _is_between(moment(inner[name]), lasts, firsts, step.within)
        ]
        spans = meet(spans, without(union_all(broken)))
    return spans


def _moments(step: Step, env: Env) -> list[int]:
    return [moment(env[binding.var]) for binding in step.bindings]


def _gaps(before: list[int], after: list[int]) -> list[int]:
    return [later - sooner for sooner in before for later in after]


def _is_between(at: int, lasts: list[int], firsts: list[int], within: int | None) -> bool:
    gaps = _gaps(lasts, [at])
    ahead = _gaps([at], firsts)
    if any(gap <= 0 for gap in (*gaps, *ahead)):
        return False
    return within is None or all(gap <= within for gap in gaps or ahead)
