"""Phrases about how long ago a message arrived."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.query.phrases.catalogue.conditions import ago, column, length
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind, Slots
from tapestry.query.phrases.catalogue.patterns import age_of, length_of
from tapestry.query.tree import nodes as n


def _arrived(phrase: PhraseInContext, op: str) -> n.Condition:
    return n.Compare(op, column("ts"), ago(length(phrase.amount)))


def _between(phrase: PhraseInContext) -> n.Condition:
    low, high = phrase.amount, phrase.phrase.upper
    assert high is not None
    older, newer = length(low, high.unit), length(high)
    if int(older.value or 0) >= int(newer.value or 0):
        message = "Nothing is between these two ages."
        raise TapestryError(message, phrase.phrase.span, "Write the smaller age first.")
    ts = column("ts")
    return n.And((n.Compare("<", ts, ago(older)), n.Compare(">", ts, ago(newer))))


def _age_compared(condition: n.Condition, op: str) -> Slots | None:
    age = age_of(condition, op)
    return None if age is None else {"amount": length_of(age)}


def _ages_around(condition: n.Condition) -> Slots | None:
    match condition:
        case n.And((first, second)):
            for old, new in ((first, second), (second, first)):
                low, high = age_of(old, "<"), age_of(new, ">")
                if low is not None and high is not None and low < high:
                    return {"amount": length_of(low), "upper": length_of(high)}
    return None


KINDS = (
    PhraseKind(
        name="older",
        grammar=("age OLD", "OLDER THAN age"),
        template="{age} old",
        description="that arrived longer ago than this",
        example="two weeks old",
        rank=5,
        meaning=lambda phrase: _arrived(phrase, "<"),
        pattern=lambda condition: _age_compared(condition, "<"),
    ),
    PhraseKind(
        name="newer",
        grammar=("NEWER THAN age",),
        template="newer than {age}",
        description="that arrived since then",
        example="newer than two weeks",
        rank=16,
        meaning=lambda phrase: _arrived(phrase, ">"),
        pattern=lambda condition: _age_compared(condition, ">"),
    ),
    PhraseKind(
        name="between",
        grammar=("BETWEEN number AND age OLD", "BETWEEN age AND age OLD"),
        template="between {low} and {upper} old",
        description="of an age between these two",
        example="between two and three weeks old",
        rank=31,
        meaning=_between,
        pattern=_ages_around,
    ),
)
