"""Phrases about how long ago a message arrived."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.query.phrases.catalogue.conditions import ago, column, length
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Phrase
from tapestry.query.tree import nodes as n


def _arrived(phrase: Phrase, op: str) -> n.Condition:
    return n.Compare(op, column("ts"), ago(length(phrase.amount)))


def _between(phrase: Phrase) -> n.Condition:
    low, high = phrase.amount, phrase.upper
    older, newer = length(low, high.unit), length(high)
    if int(older.value or 0) >= int(newer.value or 0):
        message = "Nothing is between these two ages."
        raise TapestryError(message, phrase.span, "Write the smaller age first.")
    ts = column("ts")
    return n.And((n.Compare("<", ts, ago(older)), n.Compare(">", ts, ago(newer))))


KINDS = (
    PhraseKind(
        spelling="{age:two weeks} old",
        description="that arrived longer ago than this",
        rank=4,
        meaning=lambda phrase, _: _arrived(phrase, "<"),
        others=("OLDER THAN age",),
    ),
    PhraseKind(
        spelling="newer than {age:two weeks}",
        description="that arrived since then",
        rank=15,
        meaning=lambda phrase, _: _arrived(phrase, ">"),
    ),
    PhraseKind(
        spelling="between {low:two} and {upper:three weeks} old",
        description="of an age between these two",
        rank=30,
        meaning=lambda phrase, _: _between(phrase),
    ),
)
