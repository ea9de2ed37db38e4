"""The votes and replies that a disjunct counts, or misses: who bears witness to a match.

The evidence of a match, its why-provenance, names the rows that a disjunct binds.  What an
aggregate counts, and what must not exist, it does not bind; here the shapes of it are known that
phrases have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import Conjunction

Kind = Literal["votes for", "votes against", "votes", "replies", "no reply"]


@dataclass(frozen=True, slots=True)
class Witnesses:
    """All votes on a message, or replies to it, that were there when it matched.

    With an ``age`` only those count that were no older then.  Of the kind "no reply" there was
    none.
    """

    kind: Kind
    age: int | None = None


def witnesses(conjunction: Conjunction, message: str) -> list[Witnesses]:
    """Return what a disjunct says of the votes on its message, and of the replies to it.

    >>> from tapestry.rewrite.examples import conjunction
    >>> witnesses(conjunction("COUNT(r: r.inreplyto = m.msgid) > 2"), "m")
    [Witnesses(kind='replies', age=None)]
    """
    found = [_absent(part, message) for part in conjunction.not_exists]
    for test in conjunction.having_tests:
        if test.aggregate.among:
            continue
        found.append(_counted(test.aggregate.bindings, test.aggregate.rows, message))
    for top in conjunction.top_k_tests:
        if not top.negated:
            found.append(_counted(top.aggregate.bindings, top.aggregate.rows, top.binding.var))
    return list(dict.fromkeys(counted for counted in found if counted is not None))


def _absent(part: Conjunction, message: str) -> Witnesses | None:
    found = _counted(part.bindings, (part,), message)
    return Witnesses("no reply", found.age) if found and found.kind == "replies" else None


def _counted(
    bindings: Sequence[n.Binding], rows: Sequence[Conjunction], message: str
) -> Witnesses | None:
    if len(bindings) != 1 or len(rows) != 1 or rows[0].nested:
        return None
    (binding,), (row,) = bindings, rows
    ages = list(_ages(row, binding))
    if len(ages) > 1 or None in ages:
        return None
    age = ages[0] if ages else None
    pointer = {MESSAGES: "inreplyto", ANNOTATIONS: "msgid"}.get(binding.table)
    if pointer is None:
        return None
    tests = {_plain(test) for test in row.plain}
    ends = ((binding.var, pointer), (message, "msgid"))
    others = tests - {("=", *ends), ("=", *reversed(ends))}
    if len(others) == len(tests):
        return None
    if binding.table == MESSAGES:
        return None if others else Witnesses("replies", age)
    is_vote = ("=", (binding.var, "kind"), "vote")
    signs: dict[frozenset[object], Kind] = {
        frozenset({is_vote}): "votes",
        frozenset({is_vote, (">", (binding.var, "number"), 0)}): "votes for",
        frozenset({is_vote, ("<", (binding.var, "number"), 0)}): "votes against",
    }
    kind = signs.get(frozenset(others))
    return None if kind is None else Witnesses(kind, age)


def _plain(test: n.Condition) -> object:
    """Return a comparison of a column with a column or a constant as plain values."""
    if not isinstance(test, n.Compare) or not isinstance(test.left, n.Column):
        return test
    left = (test.left.var, test.left.name)
    if isinstance(test.right, n.Literal):
        return (test.op, left, test.right.value)
    if isinstance(test.right, n.Column):
        return (test.op, left, (test.right.var, test.right.name))
    return test


def _ages(row: Conjunction, binding: n.Binding) -> Iterator[int | None]:
    """Yield how old a row may be, for each test of its age; None for any other test of time."""
    instant = "received" if binding.table == MESSAGES else "ts"
    for test in row.temporal_predicates:
        shape = test.right
        if (
            test.op in ("<", "<=")
            and isinstance(test.left, n.Now)
            and isinstance(shape, n.Arith)
            and shape.op == "+"
            and isinstance(shape.left, n.Column)
            and (shape.left.var, shape.left.name) == (binding.var, instant)
            and isinstance(shape.right, n.Literal)
            and isinstance(shape.right.value, int)
        ):
            yield shape.right.value
        else:
            yield None
