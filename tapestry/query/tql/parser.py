"""TQL and SQL conditions: a precedence parser over tokens, one grammar for both forms.

Terms and conditions are read by the same ``expression``; what an operator needs on its
sides is checked as it is met, so a parenthesis never has to be read twice.
"""

from __future__ import annotations

import re

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.scope import known_column
from tapestry.query.limits import MAX_NESTING, check_length, check_text
from tapestry.query.tql import (
    aggregates,
    agreement,
    definitions,
    exists,
    expressions,
    literals,
    own_aggregates,
    predicates,
    select,
    sequences,
    threads,
    window_functions,
)
from tapestry.query.tql.expressions import AND, COMPARE, NOT, OR, PRODUCT, SUM, Parser
from tapestry.query.tql.lexer import Token
from tapestry.query.tree import nodes as n
from tapestry.query.tree.definitions import Definition
from tapestry.query.tree.identifiers import DEFINED, RESERVED
from tapestry.query.tree.parsed import MESSAGE, Branch, Parsed, on_message, placed

_POWER = {
    "OR": OR,
    "AND": AND,
    **dict.fromkeys(
        (*predicates.COMPARISONS, "NOT", "LIKE", "HAS", "IN", "IS", "BETWEEN"), COMPARE
    ),
    "+": SUM,
    "-": SUM,
    "*": PRODUCT,
}
_TWO_WORDS = re.compile(r"\s*([^\W\d]\w*)\s+([^\W\d]\w*)")
_STATEMENTS = ("ALTER", "CREATE", "DELETE", "DROP", "EXPLAIN", "INSERT", "MERGE", "UPDATE")


def parse(text: str, depth: int = 0) -> Parsed:
    """Read a filter in the short or the long form; ``depth`` is its nesting already.

    Raises MisreadError if it is neither, TapestryError for what is understood but refused.
    """
    check_length(text)
    with placed(text):
        parser = _Expressions(text, depth)
        branches = _branches(parser)
        if parser.most_made > MAX_NESTING:
            for branch in branches:
                expressions.check_terms(branch.condition)
    return Parsed(branches, "tql")


def parse_definition(text: str) -> tuple[str, Definition]:
    """Read ``CREATE AGGREGATE name(…) …``; without CREATE, and without a name, too.

    Return its name in small letters, "" without one.  Raises TapestryError with its place.
    """
    check_text(text)
    with placed(text):
        parser = _Expressions(text)
        parser.accept("CREATE")
        parser.expect(DEFINED, f"“CREATE {DEFINED}”")
        name = own_aggregates.name_of(parser) if parser.token.word != "(" else ""
        read = definitions.definition(parser)
        parser.accept(";")
        if parser.token.kind != "end":
            raise parser.unexpected("the end of the definition", definitions.EXAMPLE)
    return name, read


def cannot_be(text: str) -> bool:
    """Tell, by its first two words, that ``parse`` of a text would raise a MisreadError.

    No value is followed by a name that is no operator; only NOT, SELECT and statements are.

    >>> cannot_be("replies by Jones"), cannot_be("replies IN baseball"), cannot_be("replies")
    (True, False, False)
    """
    words = _TWO_WORDS.match(text)
    return (
        words is not None
        and words[1].upper() not in ("NOT", "SELECT", *_STATEMENTS)
        and words[2].upper() not in _POWER
    )


def _branches(parser: Parser) -> tuple[Branch, ...]:
    first = parser.token
    if select.starts(parser) and not select.starts_aggregate(parser):
        branches = select.query(parser)
        if parser.accept(";") and parser.token.kind != "end":
            raise TapestryError(
                "A filter is one query.", parser.token.span, "Leave out what follows."
            )
    elif first.word in _STATEMENTS and parser.after.is_name:
        raise TapestryError(
            "A filter can only select messages.",
            first.span,
            "Write a condition on m, or one SELECT m.msgid FROM messages m WHERE ….",
        )
    else:
        parser.scopes.append({MESSAGE})
        branches = on_message(parser.condition())
        parser.accept(";")
    if parser.token.kind != "end":
        raise parser.unexpected("the end of the filter")
    return branches


class _Expressions(Parser):
    """Terms and conditions, bound by the precedence of their operators."""

    def expression(self, above: int = 0) -> n.Term | n.Aggregate | n.Condition:
        """Read operators that bind closer than ``above``, and their operands."""
        start = self.token
        left = self._prefix()
        while True:
            word = self.token.word
            power = PRODUCT if word == "/" and self.defining else _POWER.get(word, 0)
            if power <= above:
                return left
            if power in (AND, OR):
                left = self._junction(left, word, power, start)
            elif isinstance(left, n.Aggregate):
                if power != COMPARE:
                    raise expressions.only_compared(left.span)
                left = predicates.threshold(self, left, start)
                self.most_made, self.made = max(self.most_made, self.made), 0
            elif not isinstance(left, n.TERMS):
                raise self.unexpected(
                    "“AND”, “OR” or the end", "A comparison cannot itself be compared."
                )
            elif power == COMPARE:
                left = predicates.comparison(self, left, start)
                self.most_made, self.made = max(self.most_made, self.made), 0
            else:
                self.take()
                operand = self.token
                right = expressions.as_term(self.expression(power), operand.span)
                self.made += 1
                left = n.Arith(word, left, right, span=self.since(start.start))

    def _junction(
        self, left: n.Term | n.Aggregate | n.Condition, word: str, power: int, start: Token
    ) -> n.Condition:
        args = [self.as_condition(left, start)]
        while self.accept(word):
            args.append(self.condition(power))
        kind = n.And if power == AND else n.Or
        return kind(tuple(args), span=self.since(start.start))

    def _prefix(self) -> n.Term | n.Aggregate | n.Condition:
        token = self.token
        if token.word == "NOT":
            self.enter()
            self.take()
            inner = self.condition(NOT)
            self.depth -= 1
            return n.Not(inner, span=self.since(token.start))
        if token.word == "EXISTS":
            return exists.exists(self)
        if token.word == "(":
            self.enter()
            self.take()
            node = select.aggregate(self) if self.token.word == "SELECT" else self.expression()
            self.expect(")")
            self.depth -= 1
            return node
        if token.word == "-":
            return self._minus()
        if token.kind == "number":
            return literals.number(self)
        if token.kind == "text":
            self.take()
            return n.Literal(token.value, Type.TEXT, span=token.span)
        if token.kind == "quoted":
            return self._quoted()
        if token.kind == "name" and (token.word not in RESERVED or self._may_begin()):
            return self._name()
        if token.word == "{":
            hint = "Write m.to = {'joe@example.org', LIKE '%bill%'}."
            raise self.unexpected("a value", hint)
        raise self.unexpected("a condition" if self.at == 0 else "a value")

    def _may_begin(self) -> bool:
        """Return whether the reserved word that comes next begins a value all the same."""
        word = self.token.word
        return word in literals.WORDS or (word == "HAS" and self.after.word == "(")

    def _minus(self) -> n.Term:
        start = self.take().start
        if self.token.kind == "number":
            return literals.number(self, start)
        self.enter()
        operand = self.token
        inner = expressions.as_term(self.expression(PRODUCT), operand.span)
        self.depth -= 1
        self.made += 1
        return n.Call("-", (inner,), span=self.since(start))

    def _quoted(self) -> n.Term | n.Aggregate:
        token = self.take()
        if self.token.word == "." and self.after.is_name:
            return self._column(token)
        if known_column(token.value):
            return n.Column("", token.value, span=token.span)
        text = token.value.replace("'", "''")
        raise TapestryError(
            "Double quotes are for names, and no column has this one.",
            token.span,
            f"Write '{text}' for a text." if len(text) < 60 else "Use single quotes for a text.",
        )

    def _name(self) -> n.Term | n.Aggregate | n.Condition:
        token = self.token
        special = literals.special(self)
        if special is not None:
            return special
        self.take()
        if token.word == "CASE" and self.defining:
            return definitions.case(self)
        if self.token.word == "(":
            return self._call(token)
        if self.token.word == ".":
            return self._column(token)
        return n.Column("", token.value, span=token.span)

    def _column(self, variable: Token) -> n.Column | n.Aggregate:
        self.expect(".")
        if not self.token.is_name:
            raise self.unexpected("a column", "Name one, such as m.subject.")
        column = self.take()
        if own_aggregates.comes(self):
            return own_aggregates.named(self, column, variable)
        return n.Column(variable.value, column.value, span=Span(variable.start, column.end))

    def _call(self, name: Token) -> n.Term | n.Aggregate | n.Condition:
        start = name.start
        if window_functions.names_one(self, name):
            return window_functions.function(self, name)
        if aggregates.names_one(name):
            aggregate = aggregates.aggregate(self, name)
            if self.token.word == "OVER" and not aggregate.bindings:
                return window_functions.aggregate(self, aggregate)
            return aggregate
        if name.word == DEFINED:
            return own_aggregates.written_out(self, name)
        if name.word == "SEQ":
            return sequences.sequence(self, name)
        if name.word == "AGREES":
            return agreement.agreement(self, name)
        if own_aggregates.comes(self):
            return own_aggregates.named(self, name)
        self.enter()
        self.expect("(")
        if name.word == "DATEADD":
            node: n.Term | n.Condition = literals.dateadd(self, start)
            self.depth -= 1
            return node
        args = [] if self.token.word == ")" else self.listed(self.term)
        self.expect(")", "“,” or “)”")
        self.depth -= 1
        span = self.since(start)
        if name.word in ("NOW", "GETDATE", "CURRENT_TIMESTAMP"):
            if args:
                raise TapestryError(
                    f"{name.value}() takes nothing between its parentheses.", span, "Write now()."
                )
            return n.Now(span=span)
        if name.word == "ANCESTOR":
            return threads.ancestor(args, n.Truth(True, span=span))
        if name.word == "HAS" and len(args) == 2 and isinstance(args[1], n.Literal):
            return n.Has(args[0], args[1], span=span)
        self.made += 1
        return n.Call(name.value.lower(), tuple(args), span=span)
