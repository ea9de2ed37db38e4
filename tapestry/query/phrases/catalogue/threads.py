"""Phrases about a message that begins a thread."""

from __future__ import annotations

from tapestry.core.schema import MESSAGES
from tapestry.query.phrases.catalogue.conditions import (
    any_of,
    column,
    count_distinct,
    equal,
    whole_number,
)
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind, Slots
from tapestry.query.phrases.catalogue.patterns import amount, amount_of
from tapestry.query.tree import nodes as n

_NO_PARENT = n.IsNull(column("inreplyto"))


def _begins_long_thread(phrase: PhraseInContext) -> n.Condition:
    size = whole_number(phrase.amount)
    if size.value == 0:
        return _NO_PARENT
    follows = any_of(
        equal(column(name, "r"), column("msgid")) for name in ("inreplyto", "references")
    )
    messages = count_distinct("r", "msgid", MESSAGES, follows)
    return n.And((_NO_PARENT, n.Threshold(messages, ">=", size)))


def _begins_thread(condition: n.Condition) -> Slots | None:
    match condition:
        case n.IsNull(n.Column(_, "inreplyto")):
            return {}
    return None


def _size_of_thread(condition: n.Condition) -> Slots | None:
    match condition:
        case n.And(
            (
                n.IsNull(n.Column(_, "inreplyto")),
                n.Threshold(n.Aggregate(condition=n.Or()), _, more),
            )
        ):
            return {"amount": amount_of(more, 1)}
        case n.And((n.IsNull(n.Column(_, "inreplyto")), n.Exists(_, n.Or()))):
            return {"amount": amount(1)}
    return None


KINDS = (
    PhraseKind(
        name="starting",
        grammar=("STARTING A THREAD",),
        template="starting a thread",
        description="that answer nothing",
        example="starting a thread",
        rank=19,
        meaning=lambda _: _NO_PARENT,
        pattern=_begins_thread,
    ),
    PhraseKind(
        name="starting_more",
        grammar=("STARTING A THREAD OF MORE THAN number",),
        template="starting a thread of more than {number}",
        description="that began a thread of so many",
        example="starting a thread of more than three",
        rank=33,
        meaning=_begins_long_thread,
        pattern=_size_of_thread,
    ),
)
