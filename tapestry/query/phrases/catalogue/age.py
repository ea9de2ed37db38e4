"""Phrases about how long ago a message was received."""

from __future__ import annotations

from decimal import Decimal

from tapestry.core.errors import TapestryError
from tapestry.query.phrases.catalogue.conditions import ago, column, length
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import NOWHERE, Amount, Phrase
from tapestry.query.tree import nodes as n


def _received(phrase: Phrase, op: str) -> n.Condition:
    return n.Compare(op, column("received"), ago(length(phrase.amount)))


def _between(phrase: Phrase) -> n.Condition:
    low, high = phrase.amount, phrase.upper
    older, newer = length(low, high.unit), length(high)
    if int(older.value or 0) >= int(newer.value or 0):
        message = "Nothing is between these two ages."
        raise TapestryError(message, phrase.span, "Write the smaller age first.")
    received = column("received")
    return n.And((n.Compare("<", received, ago(older)), n.Compare(">", received, ago(newer))))


KINDS = (
    PhraseKind(
        spelling="{age:two weeks} old",
        description="received longer ago than this",
        rank=4,
        meaning=lambda phrase, _: _received(phrase, "<"),
        others=("OLDER THAN age", "BARE_MORE THAN age OLD"),
    ),
    PhraseKind(
        spelling="newer than {age:two weeks}",
        description="received since then",
        rank=15,
        meaning=lambda phrase, _: _received(phrase, ">"),
        others=("BARE_LESS THAN age OLD", "(FROM | IN | DURING)? recent"),
        shorthands=(
            ("FROM? RECENT_DAY", Amount(Decimal(1), NOWHERE, "day")),
            ("FROM? RECENT_WEEK", Amount(Decimal(1), NOWHERE, "week")),
        ),
    ),
    PhraseKind(
        spelling="between {low:two} and {upper:three weeks} old",
        description="of an age between these two",
        rank=30,
        meaning=lambda phrase, _: _between(phrase),
    ),
)
