"""Phrases about attachments and size."""

from __future__ import annotations

from decimal import Decimal

from tapestry.core.schema import Type
from tapestry.query.phrases.catalogue.conditions import check_positive, column
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind, Slots
from tapestry.query.phrases.catalogue.patterns import amount
from tapestry.query.phrases.nodes import Amount
from tapestry.query.tql.literals import plain_number
from tapestry.query.tree import nodes as n

_BYTES = {"KB": 1024, "MB": 1024 * 1024}


def _larger(phrase: PhraseInContext) -> n.Condition:
    check_positive(phrase.amount)
    size = phrase.amount.value * _BYTES[phrase.amount.unit]
    value = f"{size.to_integral_value():f}"
    return n.Compare(">", column("size"), plain_number(value, phrase.amount.span))


def _has_attachments(condition: n.Condition) -> Slots | None:
    match condition:
        case n.Compare(">", n.Column(_, "attachments")):
            return {}
    return None


def _size_of(condition: n.Condition) -> Slots | None:
    match condition:
        case n.Compare(">", n.Column(_, "size"), n.Literal(int(size))) if size >= 0:
            return {"amount": _in_units(size)}
    return None


def _in_units(size: int) -> Amount:
    """Return a size in MB if two decimals will do, else in KB.

    >>> [str(_in_units(size).value) for size in (10240, 1572864, 1500)]
    ['10', '1.5', '1.46484375']
    """
    megabyte = _BYTES["MB"]
    if size >= megabyte and size * 100 % megabyte == 0:
        return amount(Decimal(size) / megabyte, "MB")
    return amount(Decimal(size) / _BYTES["KB"], "KB")


KINDS = (
    PhraseKind(
        name="attachments",
        grammar=("(WITH | HAS) (ATTACHMENTS | ATTACHMENT)",),
        template="with attachments",
        description="with files attached",
        example="with attachments",
        rank=20,
        meaning=lambda _: n.Compare(">", column("attachments"), n.Literal(0, Type.INTEGER)),
        pattern=_has_attachments,
    ),
    PhraseKind(
        name="larger",
        grammar=("LARGER THAN number (KB | MB)",),
        template="larger than {number} {unit}",
        description="of more bytes than this",
        example="larger than 100 KB",
        rank=30,
        meaning=_larger,
        pattern=_size_of,
    ),
)
