"""What endpoints accepted, as the deliveries of a destination: which positions, which messages.

Keys, as the outside sees them: ``<uid>-<after>-<until>`` of a range, with ``-flood`` behind it of a
flood, ``<uid>-<position>`` of one forwarded message, with ``-note`` of a note on it.  In a
Message-ID a dot, 32 hexadecimal digits of a signature, and the host follow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.simulation.auditor.findings import EPOCH
from tests.simulation.auditor.story import Entry

_KEY = re.compile(r"<?([0-9a-f]{32})-(\d+)(?:-(\d+))?(-flood|-note)?(?:\.[0-9a-f]{32}@[^>]*>?)?\Z")
_LINK = re.compile(r"^  (https?://\S*/message/\?\S*)", re.MULTILINE)
MORE = re.compile(r"^\S.* \(\d+ of \d+\)\s*$|^See the rest: ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Item:
    """A message of a delivery; position and op are of webhooks alone."""

    msgid: str
    audience: str = ""
    position: int | None = None
    op: str = "insert"
    fields: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Transmission:
    """A delivery that was accepted: the positions after ``after`` up to ``until``.

    ``whole`` if ``items`` are all of it; ``number`` is how many a notification says there are.
    """

    key: str
    uid: str
    after: int
    until: int
    kind: str
    items: tuple[Item, ...]
    whole: bool
    entry: Entry
    number: int | None = None


def read_transmission(entry: Entry) -> Transmission | None:
    """Return what was accepted; None if it is no delivery of a destination."""
    payload = entry.get("payload") or {}
    headers = payload.get("headers", {}) if isinstance(payload, dict) else {}
    key = headers.get("Resent-Message-ID") or entry.get("message_id") or ""
    found = _KEY.match(key)
    if found is None:
        return None
    uid, first, second, more = found.groups()
    if entry["endpoint"] == "http":
        items = tuple(map(_of_webhook, payload["matches"]))
        kind, whole = "webhook", True
    elif entry["endpoint"] == "push":
        number = int(payload["title"].split()[0])
        items = (_of_link(payload["url"]),) if "/message/?" in payload["url"] else ()
        whole = len(items) == number
        return Transmission(key, uid, int(first), int(second), "push", items, whole, entry, number)
    elif "Resent-Message-ID" in headers or (second is None and more is None):
        items = (Item(headers.get("Message-ID", "").strip("<>")),)
        kind, whole = "forward", True
    else:
        text = payload["text"]
        items = tuple(_of_link(link) for link in _LINK.findall(text))
        kind = {"-flood": "flood", "-note": "note"}.get(more or "", "digest")
        whole = MORE.search(text.replace("\r", "")) is None
    after, until = (int(first), int(second)) if second else (int(first) - 1, int(first))
    return Transmission(key, uid, after, until, kind, items, whole, entry)


def instant_told(text: str | None) -> int | None:
    """Return the instant of an ISO 8601 text, which may leave out microseconds that are none.

    >>> instant_told("1970-01-02T00:00:00Z"), instant_told("1970-01-02T00:00:00.000001Z")
    (86400000000, 86400000001)
    """
    if text is None:
        return None
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


def _of_webhook(match: dict[str, Any]) -> Item:
    link = _of_link(match["url"])
    fields = tuple((name, match[name]) for name in ("filter", "matched_at"))
    return Item(match["msgid"], link.audience, match["sequence"], match["op"], fields)


def _of_link(link: str) -> Item:
    asked = parse_qs(urlsplit(link).query)
    return Item(asked["id"][0], asked.get("in", [""])[0])
