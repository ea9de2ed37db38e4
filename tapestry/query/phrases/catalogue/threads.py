"""Phrases about a message that begins a thread."""

from __future__ import annotations

from tapestry.core.schema import MESSAGES
from tapestry.query.phrases.catalogue.conditions import column, count_distinct, equal, whole_number
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Phrase
from tapestry.query.tree import nodes as n

_NO_PARENT = n.IsNull(column("inreplyto"))


def _begins_long_thread(phrase: Phrase) -> n.Condition:
    size = whole_number(phrase.amount)
    if size.value == 0:
        return _NO_PARENT
    links = (column("inreplyto", "r"), column("references", "r"))
    follows = n.Or.of([equal(link, column("msgid")) for link in links])
    messages = count_distinct("r", "msgid", MESSAGES, follows)
    return n.And((_NO_PARENT, n.Threshold(messages, ">=", size)))


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
        meaning=lambda phrase, _: _begins_long_thread(phrase),
    ),
)
