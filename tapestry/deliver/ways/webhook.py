"""Delivery by webhook: the matches as JSON, in a signed POST to the owner's own server.

The body of a request, where instants are ISO 8601 in UTC and ``op`` is ``insert`` or ``delete``::

    {"delivery": "d7-1-3", "destination": "jones",
     "matches": [{"sequence": 2, "op": "insert", "filter": "jones-replies", "msgid": "<1@x.org>",
                  "subject": "Lunch", "from": {"name": "Ann", "address": "ann@x.org"},
                  "received": "2026-01-31T12:00:00Z", "matched_at": "2026-01-31T12:00:01Z",
                  "why": "It is from Ann.", "url": "https://tapestry.example/m/2"}]}

The header fields are those of Standard Webhooks (tapestry/deliver/http/signature.py).
``delivery`` is also the ``webhook-id``: the receiver that remembers it takes each request once,
however often it is tried (an idempotency key).

A beat has no matches: that none come is known not to be silence.  All
that matched up to ``complete_until`` has been sent, but for what comes ``later``, at a time that
its person chose; it is null while that is not known::

    {"delivery": "d7-beat-29701440", "destination": "jones", "matches": [],
     "complete_until": "2026-01-31T12:00:00Z", "waits_for": [], "later": []}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from tapestry.core.clock import format_instant
from tapestry.deliver.batch import Batch, DeliveredMatch, Outcome
from tapestry.deliver.http.post import Limits, posted
from tapestry.deliver.http.signature import signed_headers


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign that a site is at work: up to when all has been sent, and what is waited for."""

    key: str
    complete_until: int | None
    waits_for: tuple[str, ...]
    later: tuple[str, ...]


def send(
    batch: Batch,
    url: str,
    secrets: Sequence[str],
    now: int,
    *,
    destination: str,
    **limits: Unpack[Limits],
) -> Outcome:
    """Send the matches of a batch to a webhook, in one request, and return what became of it.

    An answer of 2xx is a delivery, and 410 ends the subscription; after any other the batch is
    to be tried again.  ``destination`` is its name.
    """
    body = body_of(batch, destination)
    return posted(url, body, headers_of(batch.key, body, secrets, now), gone={410}, **limits)


def send_beat(
    beat: Beat,
    url: str,
    secrets: Sequence[str],
    now: int,
    *,
    destination: str,
    **limits: Unpack[Limits],
) -> Outcome:
    """Send a beat to a webhook: a request without matches, signed as others are.

    One that is not taken is not tried again: the next one says more.
    """
    until = beat.complete_until
    document = {
        "delivery": beat.key,
        "destination": destination,
        "matches": [],
        "complete_until": None if until is None else format_instant(until),
        "waits_for": list(beat.waits_for),
        "later": list(beat.later),
    }
    body = _json(document)
    return posted(url, body, headers_of(beat.key, body, secrets, now), gone={410}, **limits)


def body_of(batch: Batch, destination: str) -> bytes:
    """Return the body of the request that carries a batch; also to preview it."""
    document = {
        "delivery": batch.key,
        "destination": destination,
        "matches": [document_of(match) for match in batch.matches],
    }
    return _json(document)


def _json(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def headers_of(delivery: str, body: bytes, secrets: Sequence[str], now: int) -> dict[str, str]:
    """Return the header fields of a request, its signature among them; also to preview one."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Tapestry",
        **signed_headers(delivery, body, secrets, now),
    }


def document_of(match: DeliveredMatch) -> dict[str, object]:
    """Return a match as the JSON object that a webhook gets."""
    return {
        "sequence": match.sequence,
        "op": match.op,
        "filter": match.filter_name,
        "title": match.filter_label,
        "msgid": match.msgid,
        "subject": match.subject,
        "from": {"name": match.sender_name, "address": match.sender},
        "received": format_instant(match.received),
        "matched_at": format_instant(match.matched_at),
        "why": match.explanation,
        "url": match.url,
    }
