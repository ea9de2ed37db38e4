"""Phrases about who sent and who received a message."""

from __future__ import annotations

from tapestry.core.contacts import CONTACT
from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import (
    ME,
    address_is,
    addresses_of_me,
    column,
    equal,
    like,
    listed_by_me,
    recipient_is,
    sender_is,
    text,
)
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Person
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE


def _only_to(person: Person, context: Context) -> n.Condition:
    """Return that no recipient is another than a person, at one address of theirs."""
    if person.kind == "me":
        return n.Or.of([_only_to(me, context) for me in addresses_of_me(person, context)])
    if person.kind != "address":
        message = "“Only to” needs the whole address."
        raise TapestryError(message, person.span, "Write “only to joe@x.org”.")
    their = address_is(column("to"), person)
    another = n.Compare("<>", column("to"), text(person.text, person.span))
    copied = n.Like(column("cc"), text("%"))
    return n.And((their, n.Not(another), n.Not(copied)))


def _earlier_from_sender() -> n.Condition:
    """Return that other mail of the sender came before: of an archive, which comes at once, too."""
    of_sender = equal(column("sender", "p"), column("sender"))
    before = n.Compare("<", column("ts", "p"), column("ts"))
    at_once = equal(column("ts", "p"), column("ts"))
    earlier = n.Compare("<", column("received", "p"), column("received"))
    came_before = n.Or((before, n.And((at_once, earlier))))
    return n.Exists((n.Binding("p", MESSAGES),), n.And((of_sender, came_before)))


def _written_to_sender(context: Context) -> n.Condition:
    by_me = sender_is("p", ME, context)
    to_sender = n.Or.of([equal(column(name, "p"), column("sender")) for name in ("to", "cc")])
    return n.Exists((n.Binding("p", MESSAGES),), n.And.of((by_me, to_sender)))


KINDS = (
    PhraseKind(
        spelling="from {person:Jones}",
        description="sent by somebody: a name, an address, a domain, me",
        rank=0,
        meaning=lambda phrase, context: sender_is(MESSAGE, phrase.person, context),
        others=("BY person", "myself (SENT | WROTE)"),
        listed="or",
    ),
    PhraseKind(
        spelling="to {person:Jones}",
        description="that this person received",
        rank=9,
        meaning=lambda phrase, context: recipient_is(("to", "cc"), phrase.person, context),
    ),
    PhraseKind(
        spelling="cc {person:Jones}",
        description="that this person received a copy of",
        rank=31,
        meaning=lambda phrase, context: recipient_is(("cc",), phrase.person, context),
    ),
    PhraseKind(
        spelling="directly to {person:Jones}",
        description="that this person received, not only a copy",
        rank=53,
        meaning=lambda phrase, context: recipient_is(("to",), phrase.person, context),
    ),
    PhraseKind(
        spelling="only to {person:joe@x.org}",
        description="that this person received, and nobody else",
        rank=54,
        meaning=lambda phrase, context: _only_to(phrase.person, context),
        listed="or",
    ),
    PhraseKind(
        spelling="from addresses like {words:*@*.org}",
        description="sent from an address of this form, with * for any text and ? for a character",
        rank=75,
        meaning=lambda phrase, _: like("sender", phrase.words),
        listed="or",
    ),
    PhraseKind(
        spelling="to addresses like {words:*@*.org}",
        description="that an address of this form received",
        rank=76,
        meaning=lambda phrase, _: n.Or((like("to", phrase.words), like("cc", phrase.words))),
    ),
    PhraseKind(
        spelling="cc addresses like {words:*@*.org}",
        description="that an address of this form received a copy of",
        rank=77,
        meaning=lambda phrase, _: like("cc", phrase.words),
    ),
    PhraseKind(
        spelling="directly to addresses like {words:*@*.org}",
        description="that an address of this form received, not only a copy",
        rank=78,
        meaning=lambda phrase, _: like("to", phrase.words),
    ),
    PhraseKind(
        spelling="from new senders",
        description="of whom nothing came before",
        rank=55,
        meaning=lambda *_: n.Not(_earlier_from_sender()),
    ),
    PhraseKind(
        spelling="from unknown senders",
        description="to whom you have not written",
        rank=56,
        meaning=lambda _, context: n.Not(_written_to_sender(context)),
    ),
    PhraseKind(
        spelling="from contacts",
        description="sent by somebody in your address book",
        rank=74,
        meaning=lambda _, context: listed_by_me(CONTACT, "sender", context),
        others=("BY CONTACTS",),
        opposites=("FROM NO_CONTACT", "BY NO_CONTACT"),
    ),
    PhraseKind(
        spelling="from programs",
        description="sent automatically: replies of who is away, bounces, invitations, newsletters",
        rank=61,
        meaning=lambda *_: n.Not(n.IsNull(column("automatic"))),
    ),
)
