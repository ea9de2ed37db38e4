"""Copies of conditions under other names: what a text says once holds of several rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tapestry.core.schema import MESSAGES, Type
from tapestry.query.limits import check_count
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import FreshNames
from tapestry.query.tree.walk import N, transform, walk


def moment(binding: n.Binding) -> n.Column:
    """Return the instant that orders the rows of a binding in sequences and windows."""
    name = "received" if binding.table == MESSAGES else "ts"
    return n.Column(binding.var, name, Type.INSTANT)


@dataclass(frozen=True, slots=True)
class Copier:
    """Copies of rows and tests, with names of their own from the second on."""

    names: FreshNames
    seen: list[int]
    used: set[str] = field(default_factory=set)

    def row(self, binding: n.Binding) -> n.Binding:
        """Return the binding, or under a new name where it has been returned before."""
        if binding.var not in self.used:
            self.used.add(binding.var)
            return binding
        return self.another(binding)

    def another(self, binding: n.Binding) -> n.Binding:
        """Return the binding of another row, under a new name."""
        return replace(binding, var=self.names.take(binding.var))

    def test(self, test: n.Condition, renamed: dict[str, str]) -> n.Condition:
        """Return a test of other rows; what it binds itself has new names in each copy."""
        self.seen[0] += sum(isinstance(part, n.Condition) for part in walk(test))
        check_count(self.seen[0], test.span)
        bound = [part.var for part in walk(test) if isinstance(part, n.Binding)]
        fresh = {var: self.row(n.Binding(var, "")).var for var in bound}
        return renamed_in(test, renamed | fresh)


def renamed_in(tree: N, renamed: dict[str, str]) -> N:
    """Return a condition or a term whose variables have other names."""

    def change(node: n.Node) -> n.Node:
        if isinstance(node, n.Column | n.Binding | n.InFilter) and node.var in renamed:
            return replace(node, var=renamed[node.var])
        return node

    if all(old == new for old, new in renamed.items()):
        return tree
    return transform(tree, change)
