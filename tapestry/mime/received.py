"""The time at which a message reached the mailbox or list it came from: its age begins then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tapestry.mime.headers import instant_of


def received_at(
    headers: Mapping[str, Sequence[str]], internal_date: int | None, now: int
) -> int | None:
    """Return the first that is there and plausible: from 1970 on, and not after ``now``.

    In this order: the topmost Received header, which is the newest (RFC 5322, 3.6.7); IMAP's
    INTERNALDATE, which a move to another server sets anew; Injection-Date, of the news server
    (RFC 5536, 3.2.7); Date, which the sender's machine sets.

    >>> date = ["Thu, 01 Jan 1970 00:00:07 +0000"]
    >>> received_at({"date": date, "received": ["by x.org; soon"]}, None, now=9_000_000)
    7000000
    """
    found = (
        instant_of(_first(headers, "received").rpartition(";")[2]),
        internal_date,
        instant_of(_first(headers, "injection-date")),
        instant_of(_first(headers, "date")),
    )
    return next((at for at in found if at is not None and 0 <= at <= now), None)


def _first(headers: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(headers.get(name, ())), "")
