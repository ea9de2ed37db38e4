"""The address book of a person: contacts that stand, added, and taken back.

Each is an annotation (tapestry.core.contacts), so filters, exports and the rest know it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from filters.people.models import User
from filters.reading.annotations.changes import locked
from filters.reading.annotations.outbox import annotate_all, said_of, take_back
from filters.site.work.parts import services
from filters.sources.models import SyncedResource
from tapestry.core.annotations import standing
from tapestry.core.contacts import CONTACT, book_of
from tapestry.core.errors import TapestryError
from tapestry.core.message import Annotation

MOST = 10_000
"""Addresses in the book of a person."""

MOST_SHOWN = 500
"""Addresses that the page shows."""

_ADDRESS = re.compile(r"[^\s@]{1,200}@[^\s@]{1,255}")


def contacts_of(user: User) -> dict[str, list[Annotation]]:
    """Return the addresses in the book of a person, in order, each with what says so."""
    rows = listed(user, book_of(user.get_username()))
    found: dict[str, list[Annotation]] = {}
    for row in sorted(rows, key=lambda row: row.value or ""):
        if row.kind == CONTACT and row.value:
            found.setdefault(row.value, []).append(row)
    return found


def listed(user: User, book: str) -> list[Annotation]:
    """Return what stands in an address book or a calendar of a person."""
    name = user.get_username()
    annotations = said_of(services.tables(), book, [f"user:{name}"])
    return [row for row in standing(annotations) if row.owner == name]


def synced(user: User) -> set[str]:
    """Return the annids of what sources say in the address book or calendar of a person."""
    rows = SyncedResource.objects.filter(folder__source__owner=user)
    return {annid for entries in rows.values_list("entries", flat=True) for annid, *_ in entries}


def add(user: User, addresses: Iterable[str]) -> int:
    """Keep that people are in the book of a person, each once; return how many were not yet.

    Those whom only a source has are kept besides: it may take them back.
    """
    with locked(user):
        by_sources = synced(user)
        known = {
            address
            for address, rows in contacts_of(user).items()
            if any(row.annid not in by_sources for row in rows)
        }
        new = [address for address in dict.fromkeys(addresses) if address not in known]
        if any(not _ADDRESS.fullmatch(address) for address in new):
            raise TapestryError("This is no address.", hint="Write one such as ann@example.org.")
        if len(known) + len(new) > MOST:
            message = f"An address book has at most {MOST:,} addresses."
            raise TapestryError(message, hint="Take some out first.")
        annotate_all(
            user, book_of(user.get_username()), [(CONTACT, address, None) for address in new]
        )
    return len(new)


def remove(user: User, addresses: Iterable[str]) -> int:
    """Keep that people are in the book no more; return how many were."""
    with locked(user):
        known = contacts_of(user)
        gone = [address for address in dict.fromkeys(addresses) if address in known]
        take_back(user, [row for address in gone for row in known[address]])
    return len(gone)
