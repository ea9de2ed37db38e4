"""Expression signatures: disjuncts that differ only in constants share a plan.

The signature of NiagaraCQ [Chen00 §3.2.1], taken of each disjunct of the incremental query.  Two
disjuncts, of one filter or of two, have the same signature exactly if their plans are the same
except for the constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any, Literal

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import walk
from tapestry.rewrite.stages import Conjunction, IncrementalDisjunct

Value = str | int | float | tuple[str | int | float, ...]

Use = Literal["like", "has", "since", "low", "high"]


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant of a disjunct; ``many``: the list of an IN.

    ``use``: it is that of a LIKE or HAS, or part of the clock of a filter that waits.
    """

    slot: int
    type: Type
    many: bool
    value: Value
    use: Use | None = None


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
    """Return the signature and the constants of a disjunct.

    >>> from tapestry.plan.compile import compile_filter
    >>> from tapestry.query.context import Context
    >>> names = ("joe", "mary")
    >>> joe, mary = (compile_filter(f"m.sender = '{name}'", Context()).plans for name in names)
    >>> joe[0].signature.key == mary[0].signature.key
    True
    >>> values_by_slot(mary[0].signature.constants)
    {0: 'mary'}
    """
    conjunction = disjunct.monotone.conjunction
    text = _SignatureText(disjunct.message.var).of((conjunction, disjunct.delta_queries))
    return Signature(text, constants(conjunction))


def constants(conjunction: Conjunction) -> tuple[Constant, ...]:
    """Return the constants of a disjunct of the normal form, in slot order."""
    by_slot: dict[int, Constant] = {}
    uses: dict[int | None, Use] = {}
    for node in walk(conjunction):
        if isinstance(node, n.Literal) and node.slot is not None and node.value is not None:
            use = uses.get(node.slot)
            by_slot[node.slot] = Constant(node.slot, node.type, False, node.value, use)
        elif isinstance(node, n.Values) and node.slot is not None:
            by_slot[node.slot] = Constant(node.slot, node.type, True, node.values)
        elif isinstance(node, n.Like):
            uses[node.pattern.slot] = "like"
        elif isinstance(node, n.Has):
            uses[node.words.slot] = "has"
        elif isinstance(node, n.Reached):
            uses |= {node.since.slot: "since", node.low.slot: "low", node.high.slot: "high"}
    return tuple(by_slot[slot] for slot in sorted(by_slot))


def values_by_slot(constants: Iterable[Constant]) -> dict[int, Value]:
    """Return the values of constants by their slots."""
    return {constant.slot: constant.value for constant in constants}


def constant_value(literal: n.Literal | n.Values, values: Mapping[int, Value]) -> Value | None:
    """Return the value of a constant: of a slotted one, that of its slot."""
    if literal.slot is not None:
        return values[literal.slot]
    return literal.values if isinstance(literal, n.Values) else literal.value


def integer_value(literal: n.Literal, values: Mapping[int, Value]) -> int:
    """Return the value of an integer constant, or of a duration in microseconds."""
    value = constant_value(literal, values)
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is not an integer")
    return value


class _SignatureText:
    """Writes trees as text: slotted constants as ``$slot:type``, variables in their order."""

    def __init__(self, message: str) -> None:
        self.names = {message: "v0"}
        self.written: dict[int, str] = {}

    def of(self, node: Any) -> str:
        """Return the text of a tree; a tuple shared by delta queries is written once."""
        kind: type = type(node)
        if kind is n.Column:
            return f"{self._name(node.var)}.{node.name}"
        if kind is str:
            return repr(node)
        if kind is tuple:
            text = self.written.get(id(node))
            if text is None:
                text = self.written[id(node)] = f"({' '.join(map(self.of, node))})"
            return text
        if (kind is n.Literal or kind is n.Values) and node.slot is not None:
            return f"${node.slot}:{node.type.name}"
        if kind is n.Binding:
            return f"{self._name(node.var)}:{node.table}"
        if kind is Type:
            return str(node.name)
        fields_of = _fields_of(kind)
        if fields_of is None:
            return repr(node)
        parts = ["()" if part is _EMPTY else self.of(part) for part in fields_of(node)]
        return f"{kind.__name__}({' '.join(parts)})"

    def _name(self, var: str) -> str:
        return self.names.setdefault(var, f"v{len(self.names)}")


_EMPTY = ()


@cache
def _fields_of(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what gives the fields of a class but its span, as a tuple; None of a plain value."""
    all_fields = fields(kind) if is_dataclass(kind) else ()
    names = [field.name for field in all_fields if field.name != "span"]
    if len(names) == 1:  # of a single name, attrgetter gives no tuple
        return lambda node: (getattr(node, names[0]),)
    return attrgetter(*names) if names else None
