"""Matches, batches and envelopes as a delivery carries them, for tests of the ways."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from tapestry.core.clock import HOUR, parse_instant
from tapestry.core.delivery_header import DeliverySigner
from tapestry.deliver.batch import Batch, DeliveredMatch, Link
from tapestry.deliver.mail.envelope import Envelope

NOW = parse_instant("2026-11-23T07:00:00Z")

KEY = "d7-0-9"

SIGNER = DeliverySigner(b"of the tests")

ENVELOPE = Envelope(
    to_address="terry@example.com",
    to_name="Terry Moore",
    from_address="digest@tapestry.example.org",
    site_name="Tapestry",
    site_url="https://tapestry.example.org/",
    list_id="terry.tapestry.example.org",
    unsubscribe_url="https://tapestry.example.org/stop/abc",
    settings_url="https://tapestry.example.org/me/",
    zone=ZoneInfo("Europe/Berlin"),
    message_id="digest-1-40@tapestry.example.org",
    now=NOW,
    signer=SIGNER,
)


def match(number: int = 1, filter_id: int = 1, **changed: Any) -> DeliveredMatch:
    """Return a match at this position of the sequence; the larger, the later received."""
    plain = DeliveredMatch(
        sequence=number,
        op="insert",
        filter_id=filter_id,
        filter_name=f"filter-{filter_id}",
        filter_text=f"replies by person {filter_id}",
        msgid=f"m{number}@example.com",
        audience="public",
        subject=f"Subject {number}",
        sender="jones@example.com",
        sender_name="Brian Jones",
        received=NOW - HOUR + number,
        matched_at=NOW,
        explanation=f"Jones replied to message {number}",
        url=f"https://tapestry.example.org/message/{number}/",
        links=(
            Link("Vote for it", f"https://tapestry.example.org/do/vote/{number}/"),
            Link("Mute the thread", f"https://tapestry.example.org/do/mute/{number}/"),
        ),
    )
    return replace(plain, **changed)


def batch(*matches: DeliveredMatch, key: str = KEY, note: str = "") -> Batch:
    """Return a batch of matches that are in order."""
    return Batch(key, 0, len(matches), matches, note)
