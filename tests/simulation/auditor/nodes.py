"""The tree of a filter as the auditor reads it: terms, conditions, bindings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

MESSAGES, ANNOTATIONS, THREADS = "messages", "annotations", "threads"
SHARES = ("SHARE", "NTILE")
SETS = frozenset(
    {
        *("to", "to_names", "cc", "cc_names", "newsgroups", "references"),
        *("filenames", "media_types", "diff_paths"),
    }
)


@dataclass(frozen=True, slots=True)
class Node:
    """A term, a condition or a binding."""


@dataclass(frozen=True, slots=True)
class Column(Node):
    var: str
    name: str


@dataclass(frozen=True, slots=True)
class Literal(Node):
    value: str | int | float | None


@dataclass(frozen=True, slots=True)
class Now(Node):
    pass


@dataclass(frozen=True, slots=True)
class Arith(Node):
    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Fold(Node):
    """What an aggregate that is defined in SQL is of; only an Aggregate's term."""

    definition: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Truth(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class And(Node):
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    arg: Node


@dataclass(frozen=True, slots=True)
class Compare(Node):
    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Like(Node):
    term: Node
    pattern: str


@dataclass(frozen=True, slots=True)
class Has(Node):
    term: Node
    words: str


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    term: Node


@dataclass(frozen=True, slots=True)
class InList(Node):
    term: Node
    values: tuple[str | int | float | None, ...]


@dataclass(frozen=True, slots=True)
class Binding(Node):
    var: str
    table: str


@dataclass(frozen=True, slots=True)
class Exists(Node):
    bindings: tuple[Binding, ...]
    condition: Node


@dataclass(frozen=True, slots=True)
class InQuery(Node):
    term: Node
    value: Node
    bindings: tuple[Binding, ...]
    condition: Node


@dataclass(frozen=True, slots=True)
class InFilter(Node):
    """``var IN owner.name``; an owner of "" is the asker."""

    var: str
    owner: str
    name: str


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """An aggregate; with a ``last``, of so many rows, of which those count that meet ``test``.

    SHARES are of the number of those, and of all, in so many ``tiles``.
    """

    function: str
    distinct: bool
    term: Node | None
    bindings: tuple[Binding, ...]
    condition: Node
    last: int = 0
    test: Node = Truth(True)
    tiles: int = 0


@dataclass(frozen=True, slots=True)
class Threshold(Node):
    aggregate: Aggregate
    op: str
    constant: str | int | float | None


@dataclass(frozen=True, slots=True)
class Top(Node):
    """``var IN TOP limit binding BY aggregate AMONG condition``."""

    var: str
    limit: int
    binding: Binding
    aggregate: Aggregate
    condition: Node


@dataclass(frozen=True, slots=True)
class Step(Node):
    """One step of a sequence; a binding without a table is known around it."""

    bindings: tuple[Binding, ...]
    negated: bool
    within: int | None


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """``SEQ(step THEN step: condition)``."""

    steps: tuple[Step, ...]
    condition: Node


@dataclass(frozen=True, slots=True)
class Agreement(Node):
    """``AGREES(one, other) op share``."""

    one: Node
    other: Node
    op: str
    share: float


def walk(node: object) -> Iterator[Node]:
    """Yield a node and all below it."""
    if isinstance(node, tuple):
        for part in node:
            yield from walk(part)
    elif isinstance(node, Node):
        yield node
        for field in fields(node):
            yield from walk(getattr(node, field.name))


def free(node: object) -> frozenset[str]:
    """Return the variables that a node takes from around it."""
    match node:
        case Column(var, _) | InFilter(var, _, _):
            return frozenset({var})
        case Top(var, _, binding, aggregate, condition):
            inside = free(aggregate) | free(condition)
            return (inside - {binding.var}) | {var}
        case Exists(bindings, condition):
            return free(condition) - {b.var for b in bindings}
        case Aggregate(_, _, term, bindings, condition, _, test):
            return (free(term) | free(condition) | free(test)) - {b.var for b in bindings}
        case InQuery(term, value, bindings, condition):
            inside = free(value) | free(condition)
            return (inside - {b.var for b in bindings}) | free(term)
        case Sequence(steps, condition):
            bindings = [b for step in steps for b in step.bindings]
            around = {b.var for b in bindings if not b.table}
            return (free(condition) - {b.var for b in bindings}) | around
        case tuple():
            return frozenset[str]().union(*(free(part) for part in node))
        case Node():
            return frozenset[str]().union(*(free(getattr(node, f.name)) for f in fields(node)))
    return frozenset()


def has_now(node: object) -> bool:
    """Return whether ``now()`` stands in a node."""
    return any(isinstance(part, Now) for part in walk(node))
