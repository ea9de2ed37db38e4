"""What the page shows of a text that is no filter: the place of the error, and corrections."""

from __future__ import annotations

from dataclasses import dataclass

from tapestry.core.errors import Span, TapestryError
from tapestry.query.context import Context
from tapestry.query.corrections import blame, corrections
from tapestry.query.phrases.help.vocabulary import Vocabulary
from tapestry.query.remedies import Correction

LONGEST_HINT = 160
"""A longer one lists every phrase; the phrasebook does that better."""

SHOWN = 60
"""Characters that are shown of the place, and on each side of it."""

Pieces = tuple[str, str, str]
"""What stands before a place, the place, and what stands after it."""


@dataclass(frozen=True, slots=True)
class OfferedCorrection:
    """A correction, the text that it makes, and that text as its button shows it."""

    correction: Correction
    text: str
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Misreading:
    """An error in a text, its place if it has one, and what the writer may have meant.

    Where there are corrections, they are shown instead of the hint.
    """

    error: TapestryError
    hint: str | None
    place: Pieces | None
    corrections: tuple[OfferedCorrection, ...]


def misreading(
    text: str, error: TapestryError, context: Context, vocabulary: Vocabulary
) -> Misreading:
    """Return how an error of a text is shown."""
    offered = tuple(
        OfferedCorrection(
            correction,
            correction.applied_to(text),
            _pieces(text, Span(correction.start, correction.end), correction.text),
        )
        for correction in corrections(text, error, context, vocabulary)
    )
    blamed = blame(text, error)
    span = blamed.span
    place = _pieces(text, span, text[span.start : span.end] or " ") if span else None
    hint = blamed.hint
    if hint and len(hint) > LONGEST_HINT:
        hint = "The phrasebook lists everything you can write."
    return Misreading(blamed, None if offered else hint, place, offered)


def _pieces(text: str, span: Span, shown: str) -> Pieces:
    """Return what is shown around a place, and in it.

    >>> _pieces("replies bye jones", Span(8, 11), "by")
    ('replies ', 'by', ' jones')
    """
    before, after = text[: span.start], text[span.end :]
    return (
        before if len(before) <= SHOWN else f"…{before[-SHOWN:]}",
        shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…",
        after if len(after) <= SHOWN else f"{after[:SHOWN]}…",
    )
