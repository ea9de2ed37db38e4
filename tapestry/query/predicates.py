"""What follows a value and makes a condition of it: = < LIKE HAS IN BETWEEN IS NULL."""

from __future__ import annotations

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import Type
from tapestry.query import sql
from tapestry.query.lexer import Token
from tapestry.query.names import RESERVED
from tapestry.query.nodes import (
    Between,
    Braces,
    Call,
    Column,
    Compare,
    Condition,
    Has,
    InFilter,
    InQuery,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    Term,
)
from tapestry.query.parser import Parser

_IN = "Write m IN baseball for a filter, m.to = 'joe@x.org' for a set, or IN ('a', 'b')."
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def comparison(parser: Parser, left: Term, start: Token) -> Condition:
    """Read the operator that comes next and its right side; the left one is read."""
    at = start.start
    token = parser.take()
    if token.word in COMPARISONS:
        if parser.token.word == "{":
            return _braces(parser, left, token, at)
        right = parser.term()
        return Compare(token.word, left, right, span=parser.since(at))
    if token.word == "IS":
        negated = parser.accept("NOT")
        parser.expect("NULL")
        return _negate(IsNull(left, span=parser.since(at)), negated)
    negated = token.word == "NOT"
    word = parser.take().word if negated else token.word
    if word == "BETWEEN":
        low = parser.term()
        parser.expect("AND", "“AND” and the upper bound")
        high = parser.term()
        return _negate(Between(left, low, high, span=parser.since(at)), negated)
    if word == "LIKE":
        pattern = _text(parser, "LIKE", "m.subject LIKE '%spark%'")
        return _negate(Like(left, pattern, span=parser.since(at)), negated)
    if word == "HAS":
        words = _text(parser, "HAS", "m.subject HAS 'query language'")
        return _negate(Has(left, words, span=parser.since(at)), negated)
    if word == "IN":
        return _negate(_in(parser, left, at), negated)
    parser.at -= 1
    raise parser.unexpected("“LIKE”, “HAS”, “IN” or “BETWEEN”")


def _negate(condition: Condition, negated: bool) -> Condition:
    return Not(condition, span=condition.span) if negated else condition


def _text(parser: Parser, word: str, example: str) -> Literal:
    found = parser.term()
    if not isinstance(found, Literal) or found.type is not Type.TEXT:
        span = found.span or parser.token.span
        raise TapestryError(f"{word} needs a text in single quotes.", span, f"Write {example}.")
    return found


def _braces(parser: Parser, left: Term, operator: Token, at: int) -> Condition:
    if operator.word != "=":
        hint = "Write NOT (m.to = {…})."
        raise TapestryError("Braces can only follow “=”.", operator.span, hint)
    parser.expect("{")
    tests: list[Literal | Like] = []
    while True:
        start = parser.token.start
        if parser.accept("LIKE"):
            pattern = _text(parser, "LIKE", "LIKE '%bill%'")
            tests.append(Like(left, pattern, span=parser.since(start)))
        elif parser.token.kind == "text":
            token = parser.take()
            tests.append(Literal(token.value, Type.TEXT, span=token.span))
        else:
            raise parser.unexpected("a text or “LIKE”", "Write {'joe@example.org', LIKE '%bill%'}.")
        if not parser.accept(","):
            break
    parser.expect("}", "“,” or “}”")
    return Braces(left, tuple(tests), span=parser.since(at))


def _in(parser: Parser, left: Term, at: int) -> Condition:
    if parser.token.kind in ("name", "quoted"):
        return _in_filter(parser, left, at)
    opening = parser.expect("(", "“(” or the name of a filter")
    parser.enter()
    if sql.starts(parser):
        found: Condition = _in_query(parser, left, at)
    elif parser.token.word == ")":
        span = Span(opening.start, parser.token.end)
        raise TapestryError("The list of IN is empty.", span, "Put a value into it.")
    else:
        items = [parser.term()]
        while parser.accept(","):
            items.append(parser.term())
        parser.expect(")", "“,” or “)”")
        values = Call("list", tuple(items), span=parser.since(opening.start))
        found = Compare("IN", left, values, span=parser.since(at))
    parser.depth -= 1
    return found


def _in_query(parser: Parser, left: Term, at: int) -> Condition:
    selects = sql.values(parser)
    parser.expect(")")
    span = parser.since(at)
    queries = [
        InQuery(left, value, bindings, condition, span=span)
        for value, bindings, condition in selects
    ]
    return queries[0] if len(queries) == 1 else Or(tuple(queries), span=span)


def _in_filter(parser: Parser, left: Term, at: int) -> Condition:
    if not isinstance(left, Column) or left.var or not parser.visible(left.name):
        raise parser.unexpected("“(”", _IN)
    if parser.token.word == "TOP" and parser.after.kind == "number":
        span = Span(at, parser.after.end)
        raise TapestryError(
            "TOP is not supported yet.", span, "Select by a condition on each message instead."
        )
    if parser.token.word in RESERVED:
        raise parser.unexpected("the name of a filter")
    owner, name = None, parser.take().value
    if parser.token.word == "." and parser.after.kind in ("name", "quoted"):
        parser.take()
        owner, name = name, parser.take().value
    return InFilter(left.name, owner, name, span=parser.since(at))
