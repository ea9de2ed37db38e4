"""Addresses of mail that Tapestry sends: to whom, from whom, under which Message-ID."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from tapestry.core.clock import to_datetime
from tapestry.core.delivery_header import DELIVERY_HEADER, DeliverySigner

__all__ = ["DELIVERY_HEADER", "Envelope"]


@dataclass(frozen=True, slots=True)
class Envelope:
    """The recipient of a message, and where its reader finds the site.

    ``to_name`` may be empty.  ``site_url`` is the person's inbox.  ``list_id`` is the identifier
    of RFC 2919, such as ``terry.tapestry.example.com``.  ``unsubscribe_url`` stops the mail on
    POST (RFC 8058) and asks on GET; it has to be https for mail programs to use it.
    ``message_id`` is the same however often a delivery is tried, with or without its angle
    brackets.  ``now`` is an instant (tapestry.core.clock), shown in ``zone``.  ``signer`` signs the
    key of the delivery, so that this site knows its mail again.
    """

    to_address: str
    to_name: str
    from_address: str
    site_name: str
    site_url: str
    list_id: str
    unsubscribe_url: str
    settings_url: str
    zone: ZoneInfo
    message_id: str
    now: int
    signer: DeliverySigner

    def local(self, instant: int) -> datetime:
        """Return an instant in the reader's zone; in 1970 if no calendar has it."""
        try:
            return to_datetime(instant).astimezone(self.zone)
        except (OverflowError, ValueError):
            return to_datetime(0)
