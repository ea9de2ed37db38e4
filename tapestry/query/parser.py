"""What the parts of the grammar ask of each other: a condition, a term, an expression.

    lexer ─> cursor ─> parser ─> literals, sql ─> predicates, quantifiers ─> tql

Each imports only from its left.  ``tql`` puts the parts together; they come back to it by
the Parser they are given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from tapestry.core.errors import Span
from tapestry.query.cursor import Cursor
from tapestry.query.lexer import Token
from tapestry.query.names import known_column
from tapestry.query.nodes import TERMS, Column, Condition, Term
from tapestry.query.parsed import MisreadError

OR, AND, NOT, COMPARE, SUM, PRODUCT = range(1, 7)
"""How closely operators bind."""


class Parser(Cursor, ABC):
    """A place in a text, from which conditions and terms can be read."""

    made = most_made = 0
    """Sums and calls since the last comparison, and between any two."""

    @abstractmethod
    def expression(self, above: int = 0) -> Term | Condition:
        """Read operators that bind closer than ``above``, and their operands."""

    def condition(self) -> Condition:
        """Read a condition."""
        start = self.token
        found = self.expression()
        if isinstance(found, TERMS):
            raise self.no_condition(found, start)
        return found

    def term(self) -> Term:
        """Read a term: what binds closer than a comparison."""
        start = self.token
        found = self.expression(COMPARE)
        if not isinstance(found, TERMS):
            raise no_value(found.span or start.span)
        return found

    def no_condition(self, found: Term, start: Token) -> MisreadError:
        """Return the error of a value where a condition should be, at the place that helps most."""
        if isinstance(found, Column) and not found.var:
            name = found.name
            if not known_column(name) and not self.visible(name):
                return MisreadError(
                    f"“{name}” begins no condition.",
                    start.span,
                    "Write one such as m.subject LIKE '%spark%'.",
                )
        hint = "Compare it with something, such as m.subject LIKE '%spark%'."
        return self.unexpected("a comparison", hint)


def no_value(span: Span | None) -> MisreadError:
    """Return the error of a condition where a value should be."""
    return MisreadError(
        "A condition stands where a value is expected.", span, "Join conditions with AND or OR."
    )
