"""A covering index: groups whose whole condition the new messages' postings decide.

    candidate groups ─ condition ─> posting lists ─ AND, OR of rows ─┬─> answers
                                                                     └─> undecided: a statement

Where a disjunct asks only for the message's own columns, each new message is its own candidate,
at its ``ts``; no other row matters.  Law: a group that is decided has the answers that the
statement has.  All that joins, misses, counts or ranks is left to the engine, and so is a
condition that postings cannot decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from tapestry.core.schema import MESSAGES
from tapestry.plan.compile import Plan
from tapestry.plan.engine import Row
from tapestry.plan.signature import Value, constant_value
from tapestry.plan.text_predicates import text_test
from tapestry.predicate_index.groups import EvaluationGroup
from tapestry.predicate_index.postings import Bounds, Postings
from tapestry.predicate_index.probe import SnapshotRows
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import walk
from tapestry.rewrite.stages import Conjunction, DeltaQuery, IncrementalDisjunct

MOST_MESSAGES = 10_000
"""New messages in a window: more are many, as after an import, and the engine's."""

MOST_ANSWERS = 100_000
"""Answers; groups that would give more are the engine's, which has its limits."""

_IDENTITY = ("msgid", "audience", "ts")


@dataclass(frozen=True, slots=True)
class Decision:
    """The decisions of postings: the answers, by the numbers of groups, and the groups decided."""

    answers: list[Row]
    groups: frozenset[int]


def decide(
    rows: SnapshotRows,
    groups: Iterable[tuple[int, Plan, EvaluationGroup]],
    since: int,
    until: int,
) -> Decision:
    """Return the answers in (since, until] of those of the numbered groups that postings decide."""
    own = [
        (number, plan.signature.constants, delta, group)
        for number, plan, group in groups
        if (delta := own_columns(plan.disjunct)) is not None
    ]
    conditions = {id(delta): delta.plain for _, _, delta, _ in own}
    columns = {node.name for node in walk(tuple(conditions.values())) if isinstance(node, n.Column)}
    if not own:
        return Decision([], frozenset())
    names = [*_IDENTITY, *sorted(columns.difference(_IDENTITY))]
    new = rows.between(MESSAGES, [(since, until)], names)
    if new is None or new.num_rows > MOST_MESSAGES:
        return Decision([], frozenset())
    identities = list(zip(*(new[name].to_pylist() for name in _IDENTITY), strict=True))
    postings = Postings(new)
    answers: list[Row] = []
    decided: set[int] = set()
    for number, constants, delta, group in own:
        values = dict(zip((c.slot for c in constants), json.loads(group.constants), strict=True))
        bounds = _all(delta.plain, postings, values)
        visible = set(group.audiences)
        if any(identities[row][1] in visible for row in bounds.possible - bounds.certain):
            continue
        if len(answers) + len(bounds.certain) > MOST_ANSWERS:
            continue
        for row in sorted(bounds.certain):
            msgid, audience, ts = identities[row]
            if audience in visible:
                answers.append((number, msgid, audience, ts, ts, 0, ""))
        decided.add(number)
    return Decision(answers, frozenset(decided))


def own_columns(disjunct: IncrementalDisjunct) -> DeltaQuery | None:
    """Return the delta query of a disjunct that is driven and decided by the message's own row."""
    if len(disjunct.delta_queries) != 1:
        return None
    (delta,) = disjunct.delta_queries
    term = delta.event.term
    arrival = isinstance(term, n.Column) and (term.var, term.name) == (disjunct.message.var, "ts")
    alone = delta.bindings == (disjunct.message,) and delta.test == Conjunction()
    plain = arrival and not delta.event.shift and not delta.before and not delta.evidence
    return delta if alone and plain else None


def _all(
    conditions: Iterable[n.Condition], postings: Postings, values: Mapping[int, Value]
) -> Bounds:
    """Return the rows that pass all of the conditions."""
    bounds = [_rows(condition, postings, values) for condition in conditions]
    every = postings.unknown.possible
    return reduce(and_, bounds) if bounds else Bounds(every, every)


def _rows(condition: n.Condition, postings: Postings, values: Mapping[int, Value]) -> Bounds:
    """Return the rows that pass a condition, as far as postings tell."""
    match condition:
        case n.And(args=args):
            return _all(args, postings, values)
        case n.Or(args=args):
            return reduce(or_, (_rows(arg, postings, values) for arg in args))
    test = text_test(condition)
    if test is None:
        return postings.unknown
    kind, column, constant = test
    value = constant_value(constant, values)
    if kind == "is" and isinstance(value, list | tuple):
        return postings.equal(column.name, [text for text in value if isinstance(text, str)])
    if not isinstance(value, str):
        return postings.unknown
    match kind:
        case "has":
            return postings.has(column.name, value)
        case "like":
            return postings.like(column.name, value)
    return postings.equal(column.name, [value])
