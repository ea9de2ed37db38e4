"""Parts of canonical conditions that the patterns of several kinds of phrases look for."""

from __future__ import annotations

import re
from decimal import Decimal

from tapestry.core.errors import Span
from tapestry.core.schema import ANNOTATIONS
from tapestry.query.phrases.catalogue.kind import Slots
from tapestry.query.phrases.nodes import Amount, Who, Words
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE
from tapestry.query.tree.printer import print_duration

Parts = tuple[n.Condition, ...]

NOWHERE = Span(0, 0)
"""The place of a phrase that nobody wrote."""

_ESCAPED = re.compile(r"\\([%_\\])")

# Values


def without_escapes(pattern: str) -> str:
    """Return the text that a LIKE pattern matches."""
    return _ESCAPED.sub(r"\1", pattern)


def words(value: object) -> Words:
    """Return a value as the words of a phrase."""
    return Words(str(value), NOWHERE)


def user(value: object) -> Who:
    """Return a user name as a person."""
    return Who("name", str(value), NOWHERE)


def amount(value: int | Decimal, unit: str = "") -> Amount:
    """Return an amount."""
    return Amount(Decimal(value), NOWHERE, unit)


def amount_of(constant: n.Literal, more: int = 0) -> Amount | None:
    """Return a constant, by so much more; None if it is no number."""
    value = constant.value
    return None if isinstance(value, str | None) else amount(Decimal(repr(value)) + more)


def length_of(microseconds: int) -> Amount:
    """Return a length of time in the largest unit that needs no fraction."""
    value, unit = print_duration(microseconds)
    return amount(Decimal(value), unit.removesuffix("s"))


# Conditions


def tests_of(condition: n.Condition) -> Parts:
    """Return the parts of an AND, or the one test."""
    return condition.args if isinstance(condition, n.And) else (condition,)


def alternatives_of(condition: n.Condition) -> Parts:
    """Return the parts of an OR, or the one test."""
    return condition.args if isinstance(condition, n.Or) else (condition,)


def age_of(condition: n.Condition, op: str) -> int | None:
    """Return the age that the message's arrival is compared with by ``op``, in microseconds."""
    match condition:
        case n.Compare(operator, n.Column(var, "ts"), right) if (operator, var) == (op, MESSAGE):
            return time_ago(right)
    return None


def time_ago(term: n.Term) -> int | None:
    """Return how long before now an instant is, in microseconds."""
    match term:
        case n.Arith("-", n.Now(), n.Literal(int(length))) if length >= 0:
            return length
    return None


def sender_of(condition: n.Condition, var: str) -> Slots | None:
    """Return the person who is the sender of a variable, if that is what a condition tests."""
    match alternatives_of(condition):
        case (
            n.Has(n.Column(of, "sender_name"), name),
            n.Like(n.Column(_, "sender")),
        ) if of == var:
            return {"who": user(name.value)}
        case (test,) if is_about(test, var, "sender"):
            who = address_in(test)
            return {"who": who} if who else None
    return None


def is_about(test: n.Condition, var: str, name: str) -> bool:
    """Tell whether a test is about this column."""
    match test:
        case (
            n.Compare("=", n.Column(of, column))
            | n.Like(n.Column(of, column))
            | n.Has(n.Column(of, column))
        ):
            return (of, column) == (var, name)
    return False


def address_in(test: n.Condition) -> Who | None:
    """Return the person whose address a test asks for."""
    match test:
        case n.Compare("=", _, n.Literal(str(text))):
            return Who("address", text, NOWHERE)
        case n.Like(_, n.Literal(str(pattern))) if pattern.startswith("%@"):
            return Who("domain", without_escapes(pattern[1:]), NOWHERE)
        case n.Like(_, n.Literal(str(pattern))) if pattern.endswith("@%"):
            return Who("name", without_escapes(pattern[:-2]), NOWHERE)
    return None


def annotation_tests(condition: n.Condition) -> list[tuple[str, str, object]]:
    """Return column, operator and constant of each test of one annotation on the message."""
    match condition:
        case n.Exists((n.Binding(table=table), *_)) if table == ANNOTATIONS:
            return [
                (test.left.name, test.op, test.right.value)
                for test in tests_of(condition.condition)[1:]
                if isinstance(test, n.Compare)
                and isinstance(test.left, n.Column)
                and isinstance(test.right, n.Literal)
            ]
    return []
