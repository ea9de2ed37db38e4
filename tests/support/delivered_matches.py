"""Matches and batches as a delivery carries them, for tests of the ways."""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.clock import SECOND, parse_instant
from tapestry.deliver.batch import Batch, DeliveredMatch

NOON = parse_instant("2026-01-31T12:00:00Z")

_FIRST = DeliveredMatch(
    sequence=1,
    op="insert",
    filter_id=7,
    filter_name="jones-replies",
    filter_text="replies to jones",
    msgid="<1@x.org>",
    audience="public",
    subject="Re: Lunch",
    sender="ann@x.org",
    sender_name="Ann",
    received=NOON,
    matched_at=NOON + SECOND,
    explanation="It is a reply to jones.",
    url="https://tapestry.example/m/1",
)


def match(sequence: int = 1, **changes) -> DeliveredMatch:
    """Return a match of its own message at a place of the sequence, with these changes."""
    own = {
        "sequence": sequence,
        "msgid": f"<{sequence}@x.org>",
        "matched_at": NOON + sequence * SECOND,
        "url": f"https://tapestry.example/m/{sequence}",
    }
    return replace(_FIRST, **own | changes)


def batch(*matches: DeliveredMatch, key: str = "d7-0-9") -> Batch:
    """Return a batch of matches that are in order."""
    after, until = (matches[0].sequence - 1, matches[-1].sequence) if matches else (0, 0)
    return Batch(key, after, until, matches)
