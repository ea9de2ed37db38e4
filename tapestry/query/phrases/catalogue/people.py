"""Phrases about who sent and who received a message."""

from __future__ import annotations

from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import (
    addresses_of_me,
    any_of,
    column,
    equal,
    escape,
    local_part_is,
    sender_is,
    text,
)
from tapestry.query.phrases.catalogue.kind import PhraseKind, Slots
from tapestry.query.phrases.catalogue.patterns import (
    address_in,
    alternatives_of,
    is_about,
    sender_of,
)
from tapestry.query.phrases.nodes import Who
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE


def _recipient_is(columns: tuple[str, ...], who: Who, context: Context) -> n.Condition:
    """Return the test that some recipient, of whom only the address is known, is a person."""
    if who.kind == "me":
        people = addresses_of_me(who, context)
        return any_of(_recipient_is(columns, person, context) for person in people)
    value = who.text.lower()
    tests: list[n.Condition] = []
    for address in map(column, columns):
        if who.kind == "address":
            tests.append(equal(address, text(value, who.span)))
        elif who.kind == "domain":
            tests.append(n.Like(address, text("%" + escape(value), who.span)))
        else:
            tests.append(local_part_is(address, who))
    return any_of(tests)


def _recipient_of(condition: n.Condition, columns: tuple[str, ...]) -> Slots | None:
    """Return who some recipient is, if the parts say the same of each column."""
    parts = alternatives_of(condition)
    if len(parts) != len(columns) or not all(
        is_about(part, MESSAGE, name) for part, name in zip(parts, columns, strict=True)
    ):
        return None
    people = {address_in(part) for part in parts}
    who = people.pop()
    return {"who": who} if who and not people else None


KINDS = (
    PhraseKind(
        name="from",
        grammar=("(FROM | BY | SENT BY | MESSAGES FROM) who",),
        template="from {who}",
        description="sent by somebody: a name, an address, a domain, me",
        example="from Jones",
        rank=1,
        meaning=lambda phrase: sender_is(MESSAGE, phrase.who, phrase.context),
        pattern=lambda condition: sender_of(condition, MESSAGE),
    ),
    PhraseKind(
        name="to",
        grammar=("TO who",),
        template="to {who}",
        description="that this person received",
        example="to Jones",
        rank=10,
        meaning=lambda phrase: _recipient_is(("to", "cc"), phrase.who, phrase.context),
        pattern=lambda condition: _recipient_of(condition, ("to", "cc")),
    ),
    PhraseKind(
        name="cc",
        grammar=("CC who",),
        template="cc {who}",
        description="that this person received a copy of",
        example="cc Jones",
        rank=32,
        meaning=lambda phrase: _recipient_is(("cc",), phrase.who, phrase.context),
        pattern=lambda condition: _recipient_of(condition, ("cc",)),
    ),
)
