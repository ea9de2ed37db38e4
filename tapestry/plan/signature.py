"""Tell which disjuncts can share a plan: they differ only in constants.

The signature of NiagaraCQ (section 3.1 of its paper), taken of each disjunct of the
incremental query: disjuncts share one, be they of one filter or of several, just if their
plans are the same but for the constants.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from tapestry.core.schema import Type
from tapestry.query.nodes import Binding, Column, Literal, Values
from tapestry.rewrite.analysis import walk
from tapestry.rewrite.stages import Conjunction, IncrementalDisjunct

Value = str | int | float | tuple[str | int | float, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant of a disjunct; ``many`` for the list of an IN."""

    slot: int
    type: Type
    many: bool
    value: Value


@dataclass(frozen=True, slots=True)
class Signature:
    """``key`` is equal for disjuncts that share a plan; ``constants`` are in slot order."""

    key: str
    constants: tuple[Constant, ...]


def signature(disjunct: IncrementalDisjunct) -> Signature:
    """Return the signature and the constants of a disjunct."""
    whole = disjunct.monotone.conjunction
    key = shape((whole, disjunct.variants), {disjunct.message.var: "v0"})
    return Signature(key, constants(whole))


def constants(whole: Conjunction) -> tuple[Constant, ...]:
    """Return the constants of a disjunct of the normal form, in slot order."""
    found: dict[int, Constant] = {}
    for node in walk(whole):
        if isinstance(node, Literal) and node.slot is not None and node.value is not None:
            found[node.slot] = Constant(node.slot, node.type, False, node.value)
        elif isinstance(node, Values) and node.slot is not None:
            found[node.slot] = Constant(node.slot, node.type, True, node.values)
    return tuple(found[slot] for slot in sorted(found))


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
