"""Phrases about who sent and who received a message."""

from __future__ import annotations

from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import (
    addresses_of_me,
    column,
    equal,
    escape,
    local_part_is,
    sender_is,
    text,
)
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Who
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE


def _recipient_is(columns: tuple[str, ...], who: Who, context: Context) -> n.Condition:
    """Return the test that some recipient, of whom only the address is known, is a person."""
    if who.kind == "me":
        people = addresses_of_me(who, context)
        return n.Or.of([_recipient_is(columns, person, context) for person in people])
    value = who.text.lower()
    tests: list[n.Condition] = []
    for address in map(column, columns):
        if who.kind == "address":
            tests.append(equal(address, text(value, who.span)))
        elif who.kind == "domain":
            tests.append(n.Like(address, text("%" + escape(value), who.span)))
        else:
            tests.append(local_part_is(address, who))
    return n.Or.of(tests)


KINDS = (
    PhraseKind(
        name="from",
        spelling="from {who:Jones}",
        description="sent by somebody: a name, an address, a domain, me",
        rank=1,
        meaning=lambda phrase: sender_is(MESSAGE, phrase.who, phrase.context),
        others=("(BY | SENT BY | MESSAGES FROM) who",),
    ),
    PhraseKind(
        name="to",
        spelling="to {who:Jones}",
        description="that this person received",
        rank=10,
        meaning=lambda phrase: _recipient_is(("to", "cc"), phrase.who, phrase.context),
    ),
    PhraseKind(
        name="cc",
        spelling="cc {who:Jones}",
        description="that this person received a copy of",
        rank=32,
        meaning=lambda phrase: _recipient_is(("cc",), phrase.who, phrase.context),
    ),
)
