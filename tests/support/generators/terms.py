"""Short names for the nodes that tests build by hand."""

from __future__ import annotations

from tapestry.core.schema import COLUMNS, Type
from tapestry.query.tree import nodes as n


def column(binding: n.Binding, name: str) -> n.Column:
    return n.Column(binding.var, name, COLUMNS[binding.table][name])


def integer(value: int) -> n.Literal:
    return n.Literal(value, Type.INTEGER)


def number(value: float) -> n.Literal:
    return n.Literal(value, Type.NUMBER)


def text(value: str) -> n.Literal:
    return n.Literal(value, Type.TEXT)


NULL = n.Literal(None, Type.NULL)
TRUE = n.Truth(True)


def conjoin(args) -> n.Condition:
    """Join conditions with AND; no And stands directly in another."""
    flat = [part for arg in args for part in (arg.args if isinstance(arg, n.And) else (arg,))]
    return flat[0] if len(flat) == 1 else n.And(tuple(flat))


def disjoin(args) -> n.Condition:
    """Join conditions with OR; no Or stands directly in another."""
    flat = [part for arg in args for part in (arg.args if isinstance(arg, n.Or) else (arg,))]
    return flat[0] if len(flat) == 1 else n.Or(tuple(flat))
