"""Constants as they are written: numbers, durations, instants, TRUE, FALSE, NULL."""

from __future__ import annotations

import re
from decimal import Decimal

from tapestry.core.clock import UNITS, parse_instant
from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.terms import constant
from tapestry.query.limits import MAX_DURATION, MAX_INTEGER, too_long
from tapestry.query.tql.expressions import Parser
from tapestry.query.tree.nodes import Arith, Literal, Now, Term, Truth

WORDS = frozenset({"TRUE", "FALSE", "NULL"})

_LENGTHS = {**UNITS, "millisecond": 1000, "microsecond": 1}
_CALENDAR = {"month": 30, "quarter": 91, "year": 365}
"""Units of no fixed length, and about how many days they have."""

_AMOUNT = re.compile(r"\s*([+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+))\s*([A-Za-z]*)\s*", re.ASCII)


def number(parser: Parser, minus: int | None = None) -> Literal:
    """Read a number, or a duration if a unit follows; ``minus`` is where its sign stands."""
    token = parser.take()
    digits = token.value if minus is None else "-" + token.value
    start = token.start if minus is None else minus
    if parser.token.kind == "name" and is_unit(parser.token.word):
        unit = parser.take().word
        return duration(digits, unit, parser.since(start))
    return plain_number(digits, Span(start, token.end))


def plain_number(digits: str, span: Span) -> Literal:
    """Return an INTEGER if there are digits only, else a NUMBER."""
    if not digits.lstrip("+-").isdigit():
        return constant(float(digits), Type.NUMBER, span)
    significant = digits.lstrip("+-0") or "0"  # int() takes no text of thousands of digits
    value = int(significant) if len(significant) <= 19 else MAX_INTEGER + 1
    return constant(-value if digits[0] == "-" else value, Type.INTEGER, span)


def is_unit(word: str) -> bool:
    """Return whether a word in capitals is a unit of time, singular or plural."""
    single = word.lower().removesuffix("s")
    return single in _LENGTHS or single in _CALENDAR


def duration(digits: str, unit: str, span: Span) -> Literal:
    """Return a DURATION in microseconds; months and years are refused."""
    single = unit.lower().removesuffix("s")
    if single in _CALENDAR:
        raise TapestryError(
            f"{single.capitalize()}s have no fixed length.",
            span,
            f"Days and weeks are fixed lengths: write “{_days(digits, single)}”.",
        )
    length = _LENGTHS[single]
    if abs(float(digits)) * length > MAX_DURATION:
        raise too_long(span)
    return Literal(round(Decimal(digits) * length), Type.DURATION, span=span)


def _days(digits: str, unit: str) -> str:
    """Return about as many days as an amount of a unit without a fixed length."""
    amount = Decimal(digits[:9]) * _CALENDAR[unit]
    return f"{amount.to_integral_value():f} days"


def special(parser: Parser) -> Term | Truth | None:
    """Read TRUE, FALSE, NULL, TIMESTAMP '…', INTERVAL … or CURRENT_TIMESTAMP, if one is here."""
    token, after = parser.token, parser.after
    if token.word in ("TRUE", "FALSE"):
        parser.take()
        return Truth(token.word == "TRUE", span=token.span)
    if token.word == "NULL":
        parser.take()
        return Literal(None, Type.NULL, span=token.span)
    if token.word == "CURRENT_TIMESTAMP" and after.word not in ("(", "."):
        parser.take()
        return Now(span=token.span)
    if token.word in ("TIMESTAMP", "DATE") and after.kind == "text":
        parser.take()
        text = parser.take().value
        return instant(text, parser.since(token.start))
    if token.word == "INTERVAL" and (after.kind in ("text", "number") or after.word == "-"):
        parser.take()
        return _interval(parser, token.start)
    return None


def instant(text: str, span: Span) -> Literal:
    """Return an INSTANT from ISO 8601, UTC where it names no zone."""
    try:
        value = parse_instant(text)
    except ValueError:
        raise TapestryError(
            "This is not an instant.", span, "Write TIMESTAMP '2026-01-31 12:00:00'."
        ) from None
    return Literal(value, Type.INSTANT, span=span)


def _interval(parser: Parser, start: int) -> Literal:
    sign = "-" if parser.accept("-") else ""
    if parser.token.kind not in ("text", "number"):
        raise parser.unexpected("a number")
    amount = parser.take()
    match = _AMOUNT.fullmatch(amount.value)
    unit = match[2].upper() if match else ""
    if not unit and parser.token.kind == "name":
        unit = parser.take().word
    span = parser.since(start)
    if not match or not is_unit(unit) or (sign and match[1][0] in "+-"):
        raise TapestryError(
            "This is not an interval.", span, "Write INTERVAL '14' DAY, or 14 days."
        )
    return duration(sign + match[1], unit, span)


def dateadd(parser: Parser, start: int) -> Arith:
    """Read the arguments of ``dateadd(week, -4, getdate())``, after its parenthesis."""
    if not is_unit(parser.token.word):
        raise parser.unexpected("a unit of time", "Write dateadd(week, -4, getdate()).")
    unit = parser.take().word
    parser.expect(",")
    sign = "-" if parser.accept("-") else ""
    if parser.token.kind != "number":
        raise parser.unexpected("a number", "Write dateadd(week, -4, getdate()).")
    amount = parser.take()
    parser.expect(",")
    base = parser.term()
    parser.expect(")")
    span = parser.since(start)
    length = duration(amount.value, unit, amount.span)
    parser.made += 1
    return Arith("-" if sign else "+", base, length, span=span)
