"""Tell which disjuncts can share a plan: they differ only in constants.

The signature of NiagaraCQ (section 3.1 of its paper), taken of each disjunct of the
incremental query: disjuncts share one, be they of one filter or of several, just if their
plans are the same but for the constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from tapestry.core.schema import Type
from tapestry.query.tree.nodes import Binding, Column, Literal, Values
from tapestry.query.tree.walk import walk
from tapestry.rewrite.stages import Conjunction, IncrementalDisjunct

_TAGS = {
    "NormalAggregate": "Total",
    "HavingTest": "Measured",
    "TopKTest": "Ranked",
    "EventPoint": "Moment",
    "DeltaQuery": "Variant",
}
"""What the predicate index on disk calls the stages: a class may be renamed, its tag may not."""

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

    @property
    def name(self) -> str:
        """Return the key as a short word, the same everywhere and always."""
        return blake2b(self.key.encode(), digest_size=10).hexdigest()


def signature(disjunct: IncrementalDisjunct) -> Signature:
    """Return the signature and the constants of a disjunct."""
    whole = disjunct.monotone.conjunction
    return Signature(
        _Shape(disjunct.message.var).of((whole, disjunct.delta_queries)), constants(whole)
    )


def constants(whole: Conjunction) -> tuple[Constant, ...]:
    """Return the constants of a disjunct of the normal form, in slot order."""
    found: dict[int, Constant] = {}
    for node in walk(whole):
        if isinstance(node, Literal) and node.slot is not None and node.value is not None:
            found[node.slot] = Constant(node.slot, node.type, False, node.value)
        elif isinstance(node, Values) and node.slot is not None:
            found[node.slot] = Constant(node.slot, node.type, True, node.values)
    return tuple(found[slot] for slot in sorted(found))


class _Shape:
    """Writes trees as text: slotted constants as ``$slot:type``, variables in their order."""

    def __init__(self, message: str) -> None:
        self.names = {message: "v0"}
        self.written: dict[int, str] = {}

    def of(self, node: Any) -> str:
        """Return the text of a tree; a tuple shared by delta queries is written once."""
        kind: type = type(node)
        if kind is tuple:
            text = self.written.get(id(node))
            if text is None:
                text = self.written[id(node)] = "(" + " ".join(map(self.of, node)) + ")"
            return text
        if kind is Column:
            return f"{self._name(node.var)}.{node.name}"
        if kind is Binding:
            return f"{self._name(node.var)}:{node.table}"
        if (kind is Literal or kind is Values) and node.slot is not None:
            return f"${node.slot}:{node.type.name}"
        if kind is Type:
            return str(node.name)
        parts = _fields(kind)
        if parts is None:
            return repr(node)
        tag = _TAGS.get(kind.__name__, kind.__name__)
        return f"{tag}({' '.join([self.of(part) for part in parts(node)])})"

    def _name(self, var: str) -> str:
        return self.names.setdefault(var, f"v{len(self.names)}")


@cache
def _fields(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return the function that gives all fields of a class but its span; None of a plain value."""
    if not is_dataclass(kind):
        return None
    names = [field.name for field in fields(kind) if field.name != "span"]
    if len(names) < 2:
        return lambda node: tuple([getattr(node, name) for name in names])
    return attrgetter(*names)
