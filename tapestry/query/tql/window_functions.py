"""Parse window functions: LAG(m.sender) OVER (PARTITION BY m.list ORDER BY m.received)."""

from __future__ import annotations

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.scope import variable_named
from tapestry.query.check.terms import NUMERIC
from tapestry.query.limits import MAX_LIMIT
from tapestry.query.tql import group_by
from tapestry.query.tql.expressions import Parser
from tapestry.query.tql.lexer import Token
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RANKS, SHIFTS, VALUES

_EXAMPLE = "Write LAG(m.sender) OVER (PARTITION BY m.inreplyto ORDER BY m.received) = '…'."
_FRAME = "Write ROWS 10 PRECEDING, or RANGE BETWEEN 7 days PRECEDING AND CURRENT ROW."
_ZERO = n.Literal(0, Type.INTEGER)


def names_one(parser: Parser, name: Token) -> bool:
    """Return whether a name before a parenthesis is that of a window function alone."""
    if name.word == "NTILE":
        return parser.ahead(2).word != ","
    return name.word in RANKS or name.word in VALUES


def function(parser: Parser, name: Token) -> n.Over:
    """Read what stands between a function's parentheses, and its OVER; the name is read."""
    parser.expect("(")
    parser.enter()
    term, count = None, None
    if name.word in VALUES:
        if parser.token.word == ")":
            raise parser.unexpected("a value", f"Write {name.word}(m.sender).")
        term = parser.shallow(parser.term())
        if parser.token.word == "," or name.word == "NTH_VALUE":
            count = _count(parser, name)
    elif name.word == "NTILE":
        count = group_by.limit(parser, "NTILE", "tiles")
    parser.expect(")")
    parser.depth -= 1
    if parser.token.word != "OVER":
        raise parser.unexpected("“OVER”", _EXAMPLE)
    return _over(parser, name.word, name.start, term, count)


def aggregate(parser: Parser, read: n.Aggregate) -> n.Over:
    """Read the OVER that comes next, of an aggregate that is read."""
    start = read.span.start if read.span else parser.token.start
    return _over(parser, read.function, start, read.term, None, read.distinct)


def _count(parser: Parser, name: Token) -> n.Literal:
    """Read how many rows away, or the how-manieth, a value is."""
    parser.expect(",", "“,” and a whole number")
    if name.word not in (*SHIFTS, "NTH_VALUE"):
        raise TapestryError(f"{name.word} takes one value.", name.span, "Or write NTH_VALUE.")
    count = _whole(parser)
    if parser.token.word == ",":
        hint = f"Write … OR {name.word}(…) OVER (…) IS NULL for a message without one."
        raise TapestryError(f"{name.word} takes no default.", parser.after.span, hint)
    return count


def _whole(parser: Parser) -> n.Literal:
    token = parser.token
    if token.kind != "number" or not token.value.isdigit():
        raise parser.unexpected("a whole number")
    digits = parser.take().value.lstrip("0")
    if not digits or len(digits) > 5 or int(digits) > MAX_LIMIT:
        message = f"A window function looks from 1 to {MAX_LIMIT:,} messages far."
        raise TapestryError(message, token.span, "Write 10.")
    return n.Literal(int(digits), Type.INTEGER, span=token.span)


def _over(
    parser: Parser,
    name: str,
    start: int,
    term: n.Term | None,
    count: n.Literal | None,
    distinct: bool = False,
) -> n.Over:
    parser.expect("OVER")
    opening = parser.expect("(")
    parser.enter()
    per: list[n.Column] = []
    if parser.accept("PARTITION"):
        parser.expect("BY")
        per = parser.listed(lambda: _column(parser))
    if not per:
        raise TapestryError(
            "A window over all mail is read anew with each message, however long it gets.",
            Span(opening.start, parser.token.end),
            "Say of what: OVER (PARTITION BY m.inreplyto ORDER BY m.received), or m IN LAST 50.",
        )
    order, descending = _order(parser)
    frame = None
    if parser.token.word in ("ROWS", "RANGE"):
        frame = _frame(parser, name, ordered=order is not None)
    var = _variable(parser, per[0])
    among: n.Condition = n.Truth(True)
    if parser.accept("AMONG"):
        scopes, parser.scopes = parser.scopes, [{var}]  # nothing around it is known inside it
        among = parser.condition()
        parser.scopes = scopes
    parser.expect(")", _expected(order, frame, among))
    parser.depth -= 1
    span = parser.since(start)
    if order is None and (name in RANKS or name in VALUES):
        message = f"{name} needs an order."
        raise TapestryError(message, span, "Write OVER (PARTITION BY … ORDER BY m.received).")
    parser.made += 1
    return n.Over(
        name, var, term, count, distinct, tuple(per), order, descending, frame, among, span=span
    )


def _expected(order: n.Column | None, frame: n.Frame | None, among: n.Condition) -> str:
    if among != n.Truth(True):
        return "“)”"
    if frame or order is None:
        return "“AMONG” and a condition, or “)”"
    return "“ROWS”, “RANGE”, “AMONG” or “)”"


def _column(parser: Parser) -> n.Column:
    start = parser.token
    term = parser.term()
    if not isinstance(term, n.Column):
        parser.at = parser.tokens.index(start)
        raise parser.unexpected("a column", _EXAMPLE)
    return term


def _order(parser: Parser) -> tuple[n.Column | None, bool]:
    if not parser.accept("ORDER"):
        return None, False
    parser.expect("BY")
    order = _column(parser)
    descending = parser.token.word == "DESC"
    if descending or parser.token.word == "ASC":
        parser.take()
    if parser.token.word == ",":
        message = "A window has one order, and messages with equal values there go by msgid."
        raise TapestryError(message, parser.token.span, "Leave out what follows.")
    return order, descending


def _variable(parser: Parser, column: n.Column) -> str:
    """Return the message that a window is of, as its first column calls it."""
    if column.var:
        return variable_named(column.var, column.span)
    names = [name for scope in parser.scopes for name in scope]
    if len(names) != 1:
        message = f"It is not clear of which message “{column.name}” is."
        raise TapestryError(message, column.span, f"Write m.{column.name}.")
    return names[0]


def _frame(parser: Parser, name: str, *, ordered: bool) -> n.Frame:
    start = parser.token.start
    if not ordered:
        message = "Where there is no order, no row comes before another."
        raise TapestryError(message, parser.token.span, "Write ORDER BY m.received before it.")
    rows = parser.take().word == "ROWS"
    if parser.accept("BETWEEN"):
        low = _bound(parser, rows, end=False)
        parser.expect("AND", "“AND” and the last row")
        high = _bound(parser, rows, end=True)
    else:
        low, high = _bound(parser, rows, end=False), _ZERO
    span = parser.since(start)
    if name in RANKS or name in SHIFTS:
        message = f"{name} is of the whole partition."
        raise TapestryError(message, span, "Leave out ROWS and RANGE.")
    if low and high and _amount(low) > _amount(high):
        raise TapestryError("This is never any row.", span, _FRAME)
    return n.Frame(rows, low, high, span=span)


def _bound(parser: Parser, rows: bool, *, end: bool) -> n.Literal | None:
    """Read where a frame begins or ends; None is without a bound."""
    start = parser.token
    if parser.accept("CURRENT"):
        parser.expect("ROW", "“ROW”")
        return _ZERO
    amount: n.Literal | None = None
    if not parser.accept("UNBOUNDED"):
        read = _whole(parser) if rows else parser.term()
        if not isinstance(read, n.Literal) or read.type not in (*NUMERIC, Type.DURATION):
            raise TapestryError("This is no distance.", read.span or start.span, _FRAME)
        if _amount(read) < 0:
            raise TapestryError("A distance is not less than nothing.", read.span, _FRAME)
        amount = read
    if parser.token.word not in ("PRECEDING", "FOLLOWING"):
        raise parser.unexpected("“PRECEDING” or “FOLLOWING”", _FRAME)
    before = parser.take().word == "PRECEDING"
    if amount is None:
        if before is end:
            raise TapestryError("This is never any row.", parser.since(start.start), _FRAME)
        return None
    sign = -1 if before else 1
    return n.Literal(sign * _amount(amount), amount.type, span=parser.since(start.start))


def _amount(literal: n.Literal) -> int | float:
    assert isinstance(literal.value, int | float)
    return literal.value
