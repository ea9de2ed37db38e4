"""Conditions that the meanings of several kinds of phrases are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.context import Context
from tapestry.query.limits import LETTER, MAX_LIMIT
from tapestry.query.phrases.nodes import NOWHERE, Amount, Person, Words
from tapestry.query.phrases.wildcards import like_pattern
from tapestry.query.tql.literals import duration, plain_number
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE

# Terms and connectives


def text(value: str, span: Span | None = None) -> n.Literal:
    """Return a text literal."""
    return n.Literal(value, Type.TEXT, span=span)


def column(name: str, var: str = MESSAGE) -> n.Column:
    """Return a column of a variable, by default of the message."""
    return n.Column(var, name)


def equal(left: n.Term, right: n.Term) -> n.Compare:
    """Return the test that two terms are equal."""
    return n.Compare("=", left, right)


def escape(value: str) -> str:
    """Return a text as a LIKE pattern that matches only itself."""
    return re.sub(r"([%_\\])", r"\\\1", value)


def like(name: str, words: Words) -> n.Like:
    """Return the test that a column is like a text with wildcards."""
    return n.Like(column(name), text(like_pattern(words.text), words.span))


# Numbers and lengths of time

_DAYS = {"month": 30, "quarter": 91, "year": 365}
"""Days of what has no fixed length on a calendar: an age in it is about so long ago."""


def number(amount: Amount) -> n.Literal:
    """Return a number literal."""
    return plain_number(f"{amount.value:f}", amount.span)


def whole_number(amount: Amount) -> n.Literal:
    """Return N of “more than N”; raise TapestryError if it counts nothing."""
    if amount.value != amount.value.to_integral_value() or amount.value < 0:
        raise TapestryError(
            "A whole number belongs here.", amount.span, "Write one, two, three, …."
        )
    return plain_number(f"{amount.value.to_integral_value():f}", amount.span)


def limit(amount: Amount, what: str = "A top") -> n.Literal:
    """Return how many messages a top or a window has; raise TapestryError out of range."""
    if not 0 < amount.value <= MAX_LIMIT:
        message = f"{what} has from 1 to {MAX_LIMIT:,} messages."
        raise TapestryError(message, amount.span, "Write 10.")
    return whole_number(amount)


def length(amount: Amount, unit: str = "") -> n.Literal:
    """Return a length of time; ``unit`` is that of an amount without one."""
    check_positive(amount)
    named = amount.unit or unit
    times, counted = _DAYS.get(named, 1), "day" if named in _DAYS else named
    return duration(f"{amount.value * times:f}", counted, amount.span)


def check_positive(amount: Amount) -> None:
    """Raise TapestryError if an amount is negative."""
    if amount.value < 0:
        raise TapestryError("This is less than nothing.", amount.span, "Leave the minus out.")


def ago(duration_literal: n.Literal) -> n.Term:
    """Return the instant that is so long before now."""
    return n.Arith("-", n.Now(), duration_literal)


# People

ME = Person("me", "me", NOWHERE)


def sender_is(var: str, person: Person, context: Context) -> n.Condition:
    """Return the test that the sender of a message is a person."""
    if person.kind == "me":
        return n.Or.of([sender_is(var, me, context) for me in addresses_of_me(person, context)])
    address = address_is(column("sender", var), person)
    if person.kind != "name":
        return address
    return n.Or((n.Has(column("sender_name", var), text(person.text, person.span)), address))


def recipient_is(columns: tuple[str, ...], person: Person, context: Context) -> n.Condition:
    """Return the test that some recipient in one of the columns of addresses is a person."""
    if person.kind == "me":
        people = addresses_of_me(person, context)
        return n.Or.of([recipient_is(columns, me, context) for me in people])
    return n.Or.of([test for name in columns for test in _recipient_is(name, person)])


def _recipient_is(name: str, person: Person) -> Iterator[n.Condition]:
    if person.kind == "name":
        yield n.Has(column(f"{name}_names"), text(person.text, person.span))
    yield address_is(column(name), person)


def addresses_of_me(person: Person, context: Context) -> list[Person]:
    """Return who ``me`` is: one's addresses, or one's name if none is known."""
    if context.addresses:
        return [Person("address", address, person.span) for address in context.addresses]
    return [Person("name", _name_of_me(person, context), person.span)]


def address_is(address: n.Column, person: Person) -> n.Compare | n.Like:
    """Return the test that an address is that of a person, in any case.

    It is so if it is theirs, is in their domain, or has their name before ``@``.
    """
    value = person.text.lower()
    if person.kind == "address":
        return equal(address, text(value, person.span))
    if person.kind == "domain":
        return n.Like(address, text("%" + escape(value), person.span))
    if not LETTER.search(value):
        raise TapestryError(
            "This is no name.",
            person.span,
            "Write a name, an address such as joe@x.org, or @x.org.",
        )
    return n.Like(address, text(escape(value) + "@%", person.span))


def annotator_is(person: Person, context: Context) -> n.Condition:
    """Return the test that an annotation ``a`` is that of a person, by the user name."""
    if person.kind == "domain":
        message = "Votes and tags have the name of one person."
        raise TapestryError(message, person.span, "Write that name.")
    user = _name_of_me(person, context) if person.kind == "me" else person.text
    return equal(column("owner", "a"), text(user, person.span))


def listed_by_me(kind: str, of: str, context: Context, *tests: n.Condition) -> n.Condition:
    """Return that a column is the value of an annotation ``a`` of one's own, of this kind."""
    same = equal(column("value", "a"), column(of))
    mine = (equal(column("kind", "a"), text(kind)), annotator_is(ME, context))
    return n.Exists((n.Binding("a", ANNOTATIONS),), n.And((same, *mine, *tests)))


def _name_of_me(person: Person, context: Context) -> str:
    if not context.owner:
        message = "Nobody is signed in, so “me” is nobody here."
        raise TapestryError(message, person.span, "Write a name.")
    return context.owner


# Other rows


def count_distinct(var: str, name: str, table: str, condition: n.Condition) -> n.Aggregate:
    """Return how many different values a column has in the rows that meet a condition."""
    return n.Aggregate("COUNT", True, column(name, var), (n.Binding(var, table),), condition)


def count_replies(*tests: n.Condition) -> n.Aggregate:
    """Return how many messages reply, each counted once whatever its audiences."""
    reply = equal(column("inreplyto", "r"), column("msgid"))
    return count_distinct("r", "msgid", MESSAGES, n.And.of((reply, *tests)))


def annotated(*tests: n.Condition) -> n.Condition:
    """Return the test that the message has an annotation ``a`` that meets some tests."""
    on_message = equal(column("msgid", "a"), column("msgid"))
    return n.Exists((n.Binding("a", ANNOTATIONS),), n.And.of((on_message, *tests)))
