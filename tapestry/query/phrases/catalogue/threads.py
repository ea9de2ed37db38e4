"""Phrases about a message that begins a thread."""

from __future__ import annotations

from tapestry.core.schema import MESSAGES
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import (
    column,
    count_distinct,
    equal,
    sender_is,
    whole_number,
)
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Phrase
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE

_NO_PARENT = n.IsNull(column("inreplyto"))


def _begins_long_thread(phrase: Phrase, op: str) -> n.Condition:
    size = whole_number(phrase.amount)
    if size.value == 0 and op == ">=":
        return _NO_PARENT
    links = (column("inreplyto", "r"), column("references", "r"))
    follows = n.Or.of([equal(link, column("msgid")) for link in links])
    messages = count_distinct("r", "msgid", MESSAGES, follows)
    return n.And((_NO_PARENT, n.Threshold(messages, op, size)))


def _has_message_by(phrase: Phrase, context: Context) -> n.Condition:
    """Return that the person wrote the message, one above or below it, or one beside it.

    Two messages are beside each other if both follow a third one.
    """
    person = phrase.person
    above = (
        equal(column("references"), column("msgid", "p")),
        equal(column("inreplyto"), column("msgid", "p")),
    )
    below = (
        equal(column("references", "p"), column("msgid")),
        equal(column("inreplyto", "p"), column("msgid")),
    )
    joins = n.Or.of((*above, *below))
    written = n.And((sender_is("p", person, context), joins))
    above_both = n.Or(
        (
            equal(column("references"), column("msgid", "q")),
            equal(column("inreplyto"), column("msgid", "q")),
        )
    )
    follows = n.Or(
        (
            equal(column("references", "p"), column("msgid", "q")),
            equal(column("inreplyto", "p"), column("msgid", "q")),
        )
    )
    beside = n.Exists(
        (n.Binding("q", MESSAGES), n.Binding("p", MESSAGES)),
        n.And((above_both, sender_is("p", person, context), follows)),
    )
    return n.Or(
        (
            sender_is(MESSAGE, person, context),
            n.Exists((n.Binding("p", MESSAGES),), written),
            beside,
        )
    )


KINDS = (
    PhraseKind(
        spelling="starting a thread",
        description="that answer nothing",
        rank=18,
        meaning=lambda *_: _NO_PARENT,
        others=("NEW? THREADS",),
    ),
    PhraseKind(
        spelling="starting a thread of more than {number:three}",
        description="that began a thread of more messages than this",
        rank=32,
        meaning=lambda phrase, _: _begins_long_thread(phrase, ">="),
    ),
    PhraseKind(
        spelling="starting a thread of more than {number:three} {replies}",
        description="that began a thread with more replies than this, wherever they stand in it",
        rank=61,
        meaning=lambda phrase, _: _begins_long_thread(phrase, ">"),
    ),
    PhraseKind(
        spelling="in a thread with {person:Jones}",
        description="of a thread in which this person wrote",
        rank=57,
        meaning=_has_message_by,
    ),
)
