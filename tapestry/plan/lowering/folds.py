"""Lower aggregates that are defined in SQL.

The rows that each candidate counts are the answer of a statement of its own; ``folding`` computes
their aggregates, and the statement reads these as a relation.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tapestry.core.schema import COLUMNS, KEY_COLUMN, MESSAGES, Type
from tapestry.plan import sql
from tapestry.plan.folding import fold
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import VariableColumn, at_c, candidate_key
from tapestry.plan.lowering.scope import column_alias
from tapestry.plan.relation import Derived, Field
from tapestry.query.tree import nodes as n

MOST_ROWS = 2_000_000
"""Rows that the aggregates of one statement are of."""

_TYPES = {name: kind for columns in COLUMNS.values() for name, kind in columns.items()}


def order_columns(bindings: Sequence[n.Binding]) -> list[VariableColumn]:
    """Return the columns that put rows in order: first their ``ts``, of which the latest counts."""
    received = [(binding.var, "received") for binding in bindings if binding.table == MESSAGES]
    keys = [(binding.var, KEY_COLUMN[binding.table]) for binding in bindings]
    arrived, seen = ([(binding.var, name) for binding in bindings] for name in ("ts", "audience"))
    return [*arrived, *received, *keys, *seen]


def folded(
    assembly: Assembly,
    term: n.Fold,
    bindings: Sequence[n.Binding],
    rows: str,
    free: Sequence[VariableColumn],
) -> str:
    """Return the relation of the aggregates of the candidates of ``rows``, by their keys."""
    keys = candidate_key(free)
    order = order_columns(bindings)
    scope = at_c(rows)
    select = sql.select_from(rows, [*keys, *(column_alias(*column) for column in order)])
    args = (sql.alias(scope.term(arg), f"x{place}") for place, arg in enumerate(term.args))
    sql.add_columns(select, *args)
    kinds = [Type.INTEGER, Type.INTEGER, Type.INSTANT, *(_TYPES[name] for _, name in sorted(free))]
    fields = [
        Field(key, Type.TEXT if kind is Type.SET else kind, kind is Type.SET)
        for key, kind in zip(keys, kinds, strict=True)
    ]
    name = f"folds_{len(assembly.derived)}"
    sets = tuple(place for place, field in enumerate(fields) if field.many)
    made = Folds(term.definition, len(keys), len(bindings), len(order), sets)
    value = Field("value", term.type)
    assembly.derived.append(Derived(name, (*fields, value), assembly.part(select), made, MOST_ROWS))
    return name


@dataclass(frozen=True)
class Folds:
    """The aggregates of rows ``(keys …, ts …, order …, values …)``, a row for each key.

    ``sets`` are the places of the keys that are sets.
    """

    definition: str
    keys: int
    bindings: int
    order: int
    sets: tuple[int, ...]

    def __call__(self, rows: Iterable[Sequence[Any]]) -> tuple[tuple[object, ...], ...]:
        """Return the keys of all groups with their aggregates."""
        groups: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
        for row in rows:
            key = list(row[: self.keys])
            for place in self.sets:
                key[place] = _set(key[place])
            groups[tuple(key)].append(row[self.keys :])
        return tuple((*key, self._aggregate(group)) for key, group in groups.items())

    def _aggregate(self, rows: Iterable[Sequence[Any]]) -> Any:
        """Return the aggregate of rows without NULL, in their order."""
        known = [row for row in rows if None not in row[self.order :]]
        return fold(self.definition, [row[self.order :] for row in sorted(known, key=self._place)])

    def _place(self, row: Sequence[Any]) -> tuple[Any, ...]:
        return (max(row[: self.bindings]), *row[self.bindings :])


def _set(value: Any) -> Any:
    """Return a set as an engine gives it, JSON of SQLite, as a relation's key."""
    return None if value is None else tuple(json.loads(value) if isinstance(value, str) else value)
