"""Parse the test that makes a condition of a value: = < LIKE HAS IN BETWEEN IS NULL."""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import MESSAGES, Type
from tapestry.query.check.scope import Scope, variable_named
from tapestry.query.check.terms import typed
from tapestry.query.tql import group_by, select, threads, windows
from tapestry.query.tql.expressions import NOT, Parser, only_compared
from tapestry.query.tql.lexer import Token
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RESERVED
from tapestry.query.tree.walk import FLIPPED, columns_of, reads_now

_IN = "Write m IN baseball for a filter, m.to = 'joe@x.org' for a set, or IN ('a', 'b')."
_TOP = "Write m IN TOP 10 BY COUNT(r: r.inreplyto = m.msgid)."
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def comparison(parser: Parser, left: n.Term, start: Token) -> n.Condition:
    """Read the operator that comes next and its right side; the left one is read."""
    at = start.start
    token = parser.take()
    if token.word in COMPARISONS:
        if parser.token.word == "{":
            return _braces(parser, left, token, at)
        right = parser.operand()
        span = parser.since(at)
        if isinstance(right, n.Aggregate):
            return n.Threshold(right, FLIPPED[token.word], _constant(parser, left), span=span)
        return n.Compare(token.word, left, right, span=span)
    if token.word == "IS":
        negated = parser.accept("NOT")
        parser.expect("NULL")
        return _negate(n.IsNull(left, span=parser.since(at)), negated)
    negated = token.word == "NOT"
    word = parser.take().word if negated else token.word
    if word == "BETWEEN":
        low = parser.term()
        parser.expect("AND", "“AND” and the upper bound")
        high = parser.term()
        return _negate(n.Between(left, low, high, span=parser.since(at)), negated)
    if word == "LIKE":
        pattern = _text(parser, "LIKE", "m.subject LIKE '%spark%'")
        return _negate(n.Like(left, pattern, span=parser.since(at)), negated)
    if word == "HAS":
        words = _text(parser, "HAS", "m.subject HAS 'query language'")
        return _negate(n.Has(left, words, span=parser.since(at)), negated)
    if word == "IN":
        condition = _in(parser, left, at)
        if isinstance(condition, n.InFilter) and not negated and parser.accept("IS"):
            unknown = parser.accept("NOT")
            parser.expect("FALSE" if unknown else "TRUE")
            return replace(condition, unknown=unknown, span=parser.since(at))
        return _negate(condition, negated)
    parser.at -= 1
    raise parser.unexpected("“LIKE”, “HAS”, “IN” or “BETWEEN”")


def threshold(parser: Parser, left: n.Aggregate, start: Token) -> n.Condition:
    """Read what an aggregate, which is read, is compared with."""
    token = parser.take()
    if token.word in COMPARISONS:
        constant = _constant(parser, parser.operand())
        return n.Threshold(left, token.word, constant, span=parser.since(start.start))
    negated = token.word == "NOT"
    if negated:
        token = parser.take()
    if token.word != "BETWEEN":
        raise only_compared(left.span)
    low = _constant(parser, parser.operand())
    parser.expect("AND", "“AND” and the upper bound")
    high = _constant(parser, parser.operand())
    span = parser.since(start.start)
    bounds = n.Threshold(left, ">=", low, span=span), n.Threshold(left, "<=", high, span=span)
    return _negate(n.And(bounds, span=span), negated)


def _constant(parser: Parser, node: n.Term | n.Aggregate) -> n.Literal:
    """Return the constant that an aggregate is compared with, computed."""
    if isinstance(node, n.Aggregate):
        raise TapestryError(
            "Two aggregates cannot be compared.", node.span, "Compare each with a constant."
        )
    term = parser.shallow(node)
    column = next(columns_of(term), None)
    if column is not None:
        raise TapestryError(
            "An aggregate is compared with a constant, and this is a column.",
            column.span,
            "Put the column into its condition: COUNT(r: r.size > m.size) > 5.",
        )
    if reads_now(term):
        raise TapestryError(
            "An aggregate is compared with a constant, and now() is none.",
            term.span,
            "Put the time into its condition: COUNT(a IN annotations: a.ts > now() - 1 week) > 5.",
        )
    constant = typed(term, Scope({}))
    if not isinstance(constant, n.Literal):
        raise TapestryError(
            "An aggregate is compared with a constant.", term.span, "Write out its value."
        )
    if constant.value is None:
        raise TapestryError(
            "A comparison with NULL is never true.", term.span, "Write a number: COUNT(r: …) = 0."
        )
    return n.Literal(constant.value, constant.type, span=term.span)


def _negate(condition: n.Condition, negated: bool) -> n.Condition:
    return n.Not(condition, span=condition.span) if negated else condition


def _text(parser: Parser, word: str, example: str) -> n.Literal:
    literal = parser.term()
    if not isinstance(literal, n.Literal) or literal.type is not Type.TEXT:
        span = literal.span or parser.token.span
        raise TapestryError(f"{word} needs a text in single quotes.", span, f"Write {example}.")
    return literal


def _braces(parser: Parser, left: n.Term, operator: Token, at: int) -> n.Condition:
    if operator.word != "=":
        hint = "Write NOT (m.to = {…})."
        raise TapestryError("Braces can only follow “=”.", operator.span, hint)
    parser.expect("{")

    def test() -> n.Literal | n.Like:
        start = parser.token
        if parser.accept("LIKE"):
            pattern = _text(parser, "LIKE", "LIKE '%bill%'")
            return n.Like(left, pattern, span=parser.since(start.start))
        if start.kind == "text":
            return n.Literal(parser.take().value, Type.TEXT, span=start.span)
        raise parser.unexpected("a text or “LIKE”", "Write {'joe@example.org', LIKE '%bill%'}.")

    tests = parser.listed(test)
    parser.expect("}", "“,” or “}”")
    return n.Braces(left, tuple(tests), span=parser.since(at))


def _in(parser: Parser, left: n.Term, at: int) -> n.Condition:
    if parser.token.is_name:
        return _in_filter(parser, left, at)
    opening = parser.expect("(", "“(” or the name of a filter")
    parser.enter()
    if select.starts(parser):
        condition: n.Condition = _in_query(parser, left, at)
    elif parser.token.word == ")":
        span = Span(opening.start, parser.token.end)
        raise TapestryError("The list of IN is empty.", span, "Put a value into it.")
    else:
        items = parser.listed(parser.term)
        parser.expect(")", "“,” or “)”")
        values = n.Call("list", tuple(items), span=parser.since(opening.start))
        condition = n.Compare("IN", left, values, span=parser.since(at))
    parser.depth -= 1
    return condition


def _in_query(parser: Parser, left: n.Term, at: int) -> n.Condition:
    tests = select.within(parser, left)
    parser.expect(")")
    span = parser.since(at)
    queries = [replace(query, span=span) for query in tests]
    return n.Or.of(queries, span)


def _in_filter(parser: Parser, left: n.Term, at: int) -> n.Condition:
    if not isinstance(left, n.Column) or left.var or not parser.visible(left.name):
        raise parser.unexpected("“(”", _IN)
    if parser.token.word == "TOP" and (parser.after.kind == "number" or parser.after.word == "-"):
        return _top(parser, left, at)
    if threads.starts(parser):
        return replace(threads.thread_of(parser, left), span=parser.since(at))
    if windows.starts(parser):
        return windows.window(parser, replace(left, name="msgid", var=left.name), at)
    if parser.token.word in RESERVED:
        raise parser.unexpected("the name of a filter")
    owner, name = None, parser.take().value
    if parser.token.word == "." and parser.after.is_name:
        parser.take()
        owner, name = name, parser.take().value
    return n.InFilter(left.name, owner, name, span=parser.since(at))


def _top(parser: Parser, left: n.Column, at: int) -> n.Top:
    """Read ``TOP 10 [x] BY COUNT(…) [AMONG …]``; AMONG takes one test, or parentheses.

    Inside, the message that is ranked is called as the one that is tested, or else ``x``.
    """
    parser.take()
    limit = group_by.limit(parser)
    name = left.name.lower()
    if parser.token.is_name and parser.token.word != "BY":
        token = parser.take()
        name = variable_named(token.value, token.span)
    parser.expect("BY", "“BY” and an aggregate")
    start = parser.token
    # Nothing around it is known inside it.
    scopes, parser.scopes = parser.scopes, [{name}]
    by = parser.operand()
    if not isinstance(by, n.Aggregate):
        raise TapestryError("TOP ranks by an aggregate.", by.span or start.span, _TOP)
    among: n.Condition = n.Truth(True)
    if parser.accept("AMONG"):
        among = parser.condition(NOT)
    parser.scopes = scopes
    message = n.Column(left.name, "msgid", span=left.span)
    return n.Top(message, limit, n.Binding(name, MESSAGES), by, among, span=parser.since(at))
