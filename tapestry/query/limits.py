"""Limits of a filter: length of the text, depth, numbers and durations."""

from __future__ import annotations

import re

from tapestry.core.clock import DAY
from tapestry.core.errors import Span, TapestryError

MAX_BYTES = 64 * 1024
MAX_NESTING = 64
MAX_WORD = 998
"""Letters of a word in a phrase: no line of mail is longer (RFC 5322, 2.1.1)."""

MAX_LIMIT = 10_000
"""The longest top."""

MAX_REPEATED, MAX_STEPPED = 10, 64
"""Rows that one step of a sequence may stand for, and variables of a sequence."""

MAX_DEFINITION, MAX_VARIABLES = 4096, 8
"""Characters of the definition of an aggregate; its parameters, and variables of its state."""

MAX_FOLDED = 10_000
"""Rows that an aggregate defined in SQL is of: the first ones."""

MAX_INTEGER = 2**63 - 1
MAX_DURATION = 3_652_425 * DAY
"""Ten thousand years."""

LETTER = re.compile(r"[^\W_]")
"""A letter or a digit, of which words are made."""

BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks that change the order in which text is shown, and so can hide what it says."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def check_text(text: str) -> None:
    """Refuse a text that is empty, too long, or has control characters."""
    if not text.strip():
        raise TapestryError(
            "The filter is empty.", Span(0, 0), "Write a phrase such as “replies by Jones”.", text
        )
    control = _CONTROL.search(text)
    if control:
        raise TapestryError(
            f"The filter holds a control character (U+{ord(control[0]):04X}).",
            Span(*control.span()),
            "Remove it.",
            text,
        )
    check_length(text)


def check_length(text: str) -> None:
    """Refuse a text that is too long."""
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        raise TapestryError(
            "The filter is longer than 64 KiB.",
            Span(min(len(text), MAX_BYTES) - 1, len(text)),
            "Split it into several filters, and refer to them by name.",
            text,
        )


def check_count(conditions: int, span: Span | None) -> None:
    """Refuse a filter that comes to more conditions than a text could hold."""
    if conditions > MAX_BYTES // 4:  # the shortest is TRUE
        hint = "Split it into several filters."
        raise TapestryError("Written out in full, the filter is too long.", span, hint)


def too_deep(span: Span) -> TapestryError:
    """Return the error for nesting deeper than the limit."""
    return TapestryError(
        f"The filter is nested deeper than {MAX_NESTING}.",
        span,
        "Split it into several filters, and refer to them by name.",
    )


def too_long(span: Span | None) -> TapestryError:
    """Return the error for a duration or an instant out of range."""
    return TapestryError("This is more than 10,000 years.", span, "Write a shorter duration.")
