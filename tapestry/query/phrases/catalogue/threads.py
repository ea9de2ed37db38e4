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


def _follows(below: str, above: str) -> n.Condition:
    """Return that a message names another one among those above it."""
    links = (column("inreplyto", below), column("references", below))
    return n.Or.of([equal(link, column("msgid", above)) for link in links])


def _begins_long_thread(phrase: Phrase, op: str) -> n.Condition:
    size = whole_number(phrase.amount)
    if size.value == 0 and op == ">=":
        return _NO_PARENT
    messages = count_distinct("r", "msgid", MESSAGES, _follows("r", MESSAGE))
    return n.And((_NO_PARENT, n.Threshold(messages, op, size)))


def _has_message_by(phrase: Phrase, context: Context) -> n.Condition:
    """Return that the person wrote the message, one above or below it, or one beside it.

    Two messages are beside each other if both follow a third one.
    """
    theirs, third = n.Binding("p", MESSAGES), n.Binding("q", MESSAGES)
    by_them = sender_is("p", phrase.person, context)
    joined = n.Or.of((_follows(MESSAGE, "p"), _follows("p", MESSAGE)))
    beside = n.And((_follows(MESSAGE, "q"), by_them, _follows("p", "q")))
    return n.Or(
        (
            sender_is(MESSAGE, phrase.person, context),
            n.Exists((theirs,), n.And((by_them, joined))),
            n.Exists((third, theirs), beside),
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
