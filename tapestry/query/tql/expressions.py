"""Interfaces between the parts of the grammar: a condition, a term, an expression.

    lexer ─> token_stream ─> expressions ─> literals, group_by ─> select
        ─> predicates, exists ─> aggregates ─> parser

Each imports only from its left.  ``parser`` puts the parts together; they come back to it by
the Parser they are given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from tapestry.core.errors import Span, TapestryError
from tapestry.query.check.scope import known_column
from tapestry.query.limits import MAX_NESTING, too_deep
from tapestry.query.tql.lexer import Token
from tapestry.query.tql.token_stream import TokenStream
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MisreadError
from tapestry.query.tree.walk import children

OR, AND, NOT, COMPARE, SUM, PRODUCT = range(1, 7)
"""Precedence of operators."""


class Parser(TokenStream, ABC):
    """A place in a text, from which conditions and terms can be read."""

    made = most_made = 0
    """Sums and calls since the last comparison, and between any two."""

    defining = False
    """Whether this is the inside of a definition, which may divide and choose by CASE."""

    @abstractmethod
    def expression(self, above: int = 0) -> n.Term | n.Aggregate | n.Condition:
        """Read operators that bind closer than ``above``, and their operands."""

    def condition(self, above: int = 0) -> n.Condition:
        """Read a condition, of operators that bind closer than ``above``."""
        start = self.token
        return self.as_condition(self.expression(above), start)

    def term(self) -> n.Term:
        """Read a term: what binds closer than a comparison."""
        start = self.token
        return as_term(self.expression(COMPARE), start.span)

    def shallow(self, term: n.Term) -> n.Term:
        """Return a term that was just read; refuse one that is nested too deeply to be walked."""
        if self.made > MAX_NESTING:
            check_terms(term)
        return term

    def operand(self) -> n.Term | n.Aggregate:
        """Read a side of a comparison."""
        start = self.token
        node = self.expression(COMPARE)
        return node if isinstance(node, n.Aggregate) else as_term(node, start.span)

    def as_condition(self, node: n.Term | n.Aggregate | n.Condition, start: Token) -> n.Condition:
        """Return what was read from ``start`` on; refuse what is no condition."""
        if isinstance(node, n.Aggregate):
            hint = f"Compare it with a constant: {node.function}(…) > 5."
            raise TapestryError("An aggregate alone is no condition.", node.span, hint)
        if isinstance(node, n.TERMS):
            raise self._no_condition(node, start)
        return node

    def _no_condition(self, node: n.Term, start: Token) -> MisreadError:
        """Return the error of a value where a condition should be, at the place that helps most."""
        if isinstance(node, n.Column) and not node.var:
            name = node.name
            if not known_column(name) and not self.visible(name):
                return MisreadError(
                    f"“{name}” begins no condition.",
                    start.span,
                    "Write one such as m.subject LIKE '%spark%'.",
                )
        hint = "Compare it with something, such as m.subject LIKE '%spark%'."
        return self.unexpected("a comparison", hint)


def as_term(node: n.Term | n.Aggregate | n.Condition, span: Span) -> n.Term:
    """Return what was read; refuse what is no term, at its place or else at ``span``."""
    if isinstance(node, n.Aggregate):
        raise only_compared(node.span)
    if not isinstance(node, n.TERMS):
        raise no_value(node.span or span)
    return node


def only_compared(span: Span | None) -> TapestryError:
    """Return the error of an aggregate that is used otherwise than in a comparison."""
    return TapestryError(
        "An aggregate can only be compared with a constant.",
        span,
        "Write such as COUNT(r: r.inreplyto = m.msgid) > 5.",
    )


def no_value(span: Span | None) -> MisreadError:
    """Return the error of a condition where a value should be."""
    return MisreadError(
        "A condition stands where a value is expected.", span, "Join conditions with AND or OR."
    )


def check_terms(root: n.Node) -> None:
    """Refuse sums and calls nested too deeply; without recursion, as they may be."""
    stack: list[tuple[object, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, n.Arith | n.Call):
            depth += 1
            if depth > MAX_NESTING and node.span:
                raise too_deep(node.span)
        stack += [(part, depth) for part in children(node)]
