"""Compute aggregates that are defined in SQL: the rows of a group, one after another.

Both engines leave this to us: a sum of floating-point numbers, an overflow and a division by zero
then come to the same, whichever engine read the rows.

- Rows are ordered by ``ts``, then by ``received``, by key and by audience.
- A row of which a value is NULL does not count; of no rows the aggregate is NULL.
- What no 64 bits hold, and what is divided by 0, is NULL.
- Only the first ``MAX_FOLDED`` rows count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from tapestry.core.schema import Type
from tapestry.plan.row_predicates import value_of, within_range
from tapestry.query.limits import MAX_FOLDED
from tapestry.query.tql.parser import parse_definition
from tapestry.query.tree.definitions import Definition, Variables

Values = Sequence[Any]
"""What one row gives the parameters."""


@lru_cache(maxsize=4096)
def definition_of(text: str) -> Definition:
    """Return the definition that a canonical text gives."""
    return parse_definition(text)[1]


def fold(text: str, rows: Iterable[Values]) -> Any:
    """Return the aggregate of rows in their order; None is NULL.

    >>> growing = "AGGREGATE (x INTEGER) RETURNS INTEGER STATE (s INTEGER) INITIALIZE (x)"
    >>> decayed = growing + " ITERATE (2 * s + x) TERMINATE s"
    >>> fold(decayed, [(1,), (None,), (3,)]), fold(decayed, []), fold(decayed, [(2**62,)] * 2)
    (5, None, None)
    """
    definition = definition_of(text)
    known = counted(definition.parameters, rows)[:MAX_FOLDED]
    if not known:
        return None
    state: dict[str, Any] = {}
    greatest: Any = None
    for row in known:
        values = dict(zip((name for name, _ in definition.parameters), row, strict=True))
        terms = definition.iterate if state else definition.initialize
        seen = values | state
        computed = [value_of(term, seen, 0) for term in terms]
        state = dict(zip((name for name, _ in definition.state), computed, strict=True))
        state = {name: _as(kind, state[name]) for name, kind in definition.state}
        first = state[definition.state[0][0]]
        if first is not None and (greatest is None or first > greatest):
            greatest = first
    if definition.terminate is None:
        return _as(definition.returns, greatest)
    return _as(definition.returns, value_of(definition.terminate, state, 0))


def counted(parameters: Variables, rows: Iterable[Values]) -> list[list[Any]]:
    """Return the rows of which no value is NULL, as the parameters have them."""
    kinds = [kind for _, kind in parameters]
    typed = ([_as(kind, value) for kind, value in zip(kinds, row, strict=True)] for row in rows)
    return [row for row in typed if None not in row]


def _as(kind: Type, value: Any) -> Any:
    """Return a value as its type has it; None for a number out of its range."""
    if value is None or kind is Type.TEXT:
        return value
    return within_range(float(value) if kind is Type.NUMBER else value)
