"""Tell which filters can share a plan: they differ only in constants.

The signature of NiagaraCQ (section 3.1 of its paper) taken of the incremental query, so
that two filters share one just if their plans are the same but for the constants.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from tapestry.core.schema import Type
from tapestry.query.nodes import Binding, Column, Literal, Values
from tapestry.rewrite.analysis import walk
from tapestry.rewrite.stages import IncrementalQuery

Value = str | int | float | tuple[str | int | float, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant of a filter; ``many`` for the list of an IN."""

    slot: int
    type: Type
    many: bool
    value: Value


@dataclass(frozen=True, slots=True)
class Signature:
    """``key`` is equal for filters that share a plan; ``constants`` are in slot order."""

    key: str
    constants: tuple[Constant, ...]


def signature(query: IncrementalQuery) -> Signature:
    """Return the signature and the constants of an incremental query."""
    found: dict[int, Constant] = {}
    for node in walk((query.normal.disjuncts, query.variants)):
        if isinstance(node, Literal) and node.slot is not None and node.value is not None:
            found[node.slot] = Constant(node.slot, node.type, False, node.value)
        elif isinstance(node, Values) and node.slot is not None:
            found[node.slot] = Constant(node.slot, node.type, True, node.values)
    key = shape((query.normal.disjuncts, query.variants), {query.var: "v0"})
    return Signature(key, tuple(found[slot] for slot in sorted(found)))


def shape(node: Any, names: dict[str, str]) -> str:
    """Return a tree as text: slotted constants as ``$slot:type``, variables in their order."""
    if isinstance(node, tuple):
        return "(" + " ".join(shape(item, names) for item in node) + ")"
    if isinstance(node, Literal | Values) and node.slot is not None:
        return f"${node.slot}:{node.type.name}"
    if isinstance(node, Enum):
        return node.name
    if isinstance(node, Binding | Column):
        name = names.setdefault(node.var, f"v{len(names)}")
        return f"{name}:{node.table}" if isinstance(node, Binding) else f"{name}.{node.name}"
    if hasattr(node, "__dataclass_fields__"):
        parts = (shape(getattr(node, f.name), names) for f in fields(node) if f.name != "span")
        return type(node).__name__ + "(" + " ".join(parts) + ")"
    return repr(node)
