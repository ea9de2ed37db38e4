"""Phrases about attachments and size."""

from __future__ import annotations

from tapestry.core.schema import Type
from tapestry.query.phrases.catalogue.conditions import check_positive, column, whole_number
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
    PhraseKind(
        spelling="with more than {number:two} {attachments}",
        description="with more files attached than this",
        rank=45,
        meaning=lambda phrase, _: _attached(">", whole_number(phrase.amount)),
        others=(f"(HAS MORE | BARE_MORE) THAN number {_FILES}",),
    ),
    PhraseKind(
        spelling="with at least {number:three} {attachments}",
        description="with so many files attached, or more",
        rank=46,
        meaning=lambda phrase, _: _attached(">=", whole_number(phrase.amount)),
        others=(
            f"(HAS AT | BARE_AT) LEAST number {_FILES}",
            f"(WITH | HAS) number OR_MORE {_FILES}",
        ),
        opposites=(
            f"(WITH | HAS) FEWER THAN number {_FILES}",
            f"BARE_LESS THAN number {_FILES}",
        ),
    ),
    PhraseKind(
        spelling="larger than {number:100} {unit:KB}",
        description="of more bytes than this",
        rank=29,
        meaning=lambda phrase, _: _larger(phrase),
        opposites=("SMALLER THAN number (KB | MB)",),
    ),
)
