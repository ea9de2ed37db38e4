"""Phrases about attachments and size."""

from __future__ import annotations

from tapestry.core.schema import Type
from tapestry.query.phrases.catalogue.conditions import check_positive, column
from tapestry.query.phrases.catalogue.counts import counted
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Phrase
from tapestry.query.tql.literals import plain_number
from tapestry.query.tree import nodes as n

BYTES = {"KB": 1024, "MB": 1024 * 1024}
"""Bytes in each unit of size."""

_FILES = "(ATTACHMENTS | ATTACHMENT)"


def _attached(op: str, count: n.Literal) -> n.Condition:
    return n.Compare(op, column("attachments"), count)


def _larger(phrase: Phrase) -> n.Condition:
    check_positive(phrase.amount)
    size = phrase.amount.value * BYTES[phrase.amount.unit]
    value = f"{size.to_integral_value():f}"
    return n.Compare(">", column("size"), plain_number(value, phrase.amount.span))


KINDS = (
    PhraseKind(
        spelling="with attachments",
        description="with files attached",
        rank=19,
        meaning=lambda *_: _attached(">", n.Literal(0, Type.INTEGER)),
        others=(f"(WITH | HAS) AN? {_FILES}",),
        opposites=(
            f"(WITH | HAS) NO {_FILES}",
            f"BARE_NO {_FILES}",
            f"WITHOUT (AN | ANY)? {_FILES}",
        ),
    ),
    *counted(
        "attachments",
        _attached,
        more=(45, "with more files attached than this"),
        least=(46, "with so many files attached, or more"),
    ),
    PhraseKind(
        spelling="larger than {number:100} {unit:KB}",
        description="of more bytes than this",
        rank=29,
        meaning=lambda phrase, _: _larger(phrase),
        opposites=("SMALLER THAN number (KB | MB)",),
    ),
)
