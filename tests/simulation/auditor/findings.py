"""What the auditor finds: a sentence with the step, the filter, and the smallest evidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Finding:
    """A law that does not hold, in words, and the step of the settled point where it was seen."""

    law: str
    sentence: str
    at_step: int

    def __str__(self) -> str:
        return f"step {self.at_step}: {self.law}: {self.sentence}"


def when(instant: int | None) -> str:
    """Return an instant as it can be compared by eye.

    >>> when(86_400_000_001), when(None)
    ('1970-01-02T00:00:00.000001Z', 'never')
    """
    if instant is None:
        return "never"
    if abs(instant) > 1 << 56:
        return "held" if instant > 0 else "the beginning"
    moment = EPOCH + timedelta(microseconds=instant)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def instants(values: set[int]) -> str:
    """Return some instants, the earliest first."""
    return " or ".join(when(value) for value in sorted(values))


def short(row: dict[str, Any]) -> str:
    """Return a message or an annotation in a few words."""
    names: tuple[str, ...] = ("msgid", "audience", "sender", "subject", "inreplyto")
    if "annid" in row:
        names = ("annid", "msgid", "owner", "kind", "value", "number", "audience")
    said = ", ".join(f"{name} {row[name]!r}" for name in names if row.get(name) is not None)
    ts = f" visible at {when(row['ts'])}" if row.get("ts") is not None else ""
    received = row.get("received")
    return said + ts + (f" received at {when(received)}" if received is not None else "")


def instant_of(chosen: str, zone: str) -> int:
    """Return the instant of a minute of a zone's clock.

    >>> instant_of("1970-01-01T01:00", "Europe/Berlin")
    0
    """
    local = datetime.fromisoformat(chosen).replace(tzinfo=ZoneInfo(zone))
    return (local - EPOCH) // timedelta(microseconds=1)
