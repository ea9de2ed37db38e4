"""When a message was received: the first of four instants that is there and plausible."""

from __future__ import annotations

import pytest

from tapestry.core.clock import DAY, parse_instant
from tapestry.ingest.parse import parse

NOW = parse_instant("2026-01-31T12:00:00Z")
DATE = b"Date: Thu, 01 Jan 2004 12:00:00 +0000\n"
INJECTED = b"Injection-Date: Fri, 02 Jan 2004 12:00:00 +0000\n"
NEWEST = b"Received: from a by b; Sun, 04 Jan 2004 12:00:00 +0000\n"
OLDER = b"Received: from c by a; Sat, 03 Jan 2004 12:00:00 +0000\n"
INTERNAL = parse_instant("2004-01-05T12:00:00Z")


def received(head: bytes, internal_date: int | None = None) -> int | None:
    return parse(head + b"\nHello\n", internal_date=internal_date, now=NOW).message.received


@pytest.mark.parametrize(
    ("head", "internal_date", "day"),
    [
        (NEWEST + OLDER + INJECTED + DATE, INTERNAL, 4),
        (INJECTED + DATE, INTERNAL, 5),
        (INJECTED + DATE, None, 2),
        (DATE, None, 1),
        (b"Received: by b; soon\n" + OLDER + DATE, INTERNAL, 5),
        (b"Received: from a by b with no date\n" + DATE, None, 1),
        (NEWEST.replace(b"2004", b"2044") + INJECTED + DATE, None, 2),
        (DATE.replace(b"Date:", b"Injection-Date:").replace(b"2004", b"1969") + DATE, None, 1),
    ],
)
def test_the_first_plausible_instant_counts(
    head: bytes, internal_date: int | None, day: int
) -> None:
    assert received(head, internal_date) == parse_instant(f"2004-01-0{day}T12:00:00Z")


@pytest.mark.parametrize(
    "head",
    [
        b"Subject: no date\n",
        DATE.replace(b"2004", b"2044"),
        DATE.replace(b"2004", b"1969"),
        b"Date: yesterday\n",
    ],
)
def test_without_a_plausible_one_it_is_not_known(head: bytes) -> None:
    assert received(head) is None
    assert received(head, NOW + DAY) is None
    assert received(head, NOW) == NOW
