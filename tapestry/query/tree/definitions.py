"""Definitions of user-defined aggregates in SQL: INITIALIZE, ITERATE, TERMINATE [Law11 §5].

AGGREGATE (x NUMBER) RETURNS NUMBER STATE (s NUMBER) INITIALIZE (x) ITERATE (s * 0.9 + x)

The first row gives the state its first values, each row after it the next ones, of its own values
and of those that the state had.  The aggregate is what TERMINATE says of the last state; without
one, the greatest that the first variable of the state has had: that can only grow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import DEFINED
from tapestry.query.tree.printer import print_term

Variables = tuple[tuple[str, Type], ...]
"""Names and their types, in order."""

TYPES = {kind.name: kind for kind in Type if kind not in (Type.SET, Type.NULL)}
"""The types of values, by the words of a definition."""

_QUOTED = re.compile("'[^']*'")
_HEADER = re.compile(rf"{DEFINED} \(([^)]*)\) RETURNS (\w+) ")


@dataclass(frozen=True, slots=True)
class Definition:
    """A checked definition: its terms read parameters and the state, as columns of no variable."""

    parameters: Variables
    returns: Type
    state: Variables
    initialize: tuple[n.Term, ...]
    iterate: tuple[n.Term, ...]
    terminate: n.Term | None

    @property
    def text(self) -> str:
        """Return the canonical text, the same for definitions that differ in how they are set."""
        words = [DEFINED, _variables(self.parameters), "RETURNS", self.returns.name]
        words += ["STATE", _variables(self.state), "INITIALIZE", _terms(self.initialize)]
        words += ["ITERATE", _terms(self.iterate)]
        if self.terminate is not None:
            words += ["TERMINATE", print_term(self.terminate)]
        return " ".join(words)


def header(text: str) -> tuple[Variables, Type]:
    """Return the parameters of a canonical text, and the type of what it returns.

    >>> header("AGGREGATE (x NUMBER, k TEXT) RETURNS NUMBER STATE (s NUMBER) …")[0]
    (('x', <Type.NUMBER: 'number'>), ('k', <Type.TEXT: 'text'>))
    """
    found = _HEADER.match(text)
    if found is None:
        raise ValueError(f"no canonical definition: {text!r}")
    words = (part.split() for part in found[1].split(", "))
    return tuple((name, TYPES[kind]) for name, kind in words), TYPES[found[2]]


def only_grows(text: str) -> bool:
    """Tell whether an aggregate only grows as rows come: without TERMINATE it is the greatest.

    >>> only_grows("AGGREGATE (x NUMBER) RETURNS NUMBER STATE (s NUMBER) … TERMINATE s")
    False
    """
    return " TERMINATE " not in _QUOTED.sub("", text)


def _variables(variables: Variables) -> str:
    return f"({', '.join(f'{name} {kind.name}' for name, kind in variables)})"


def _terms(terms: tuple[n.Term, ...]) -> str:
    return f"({', '.join(map(print_term, terms))})"
