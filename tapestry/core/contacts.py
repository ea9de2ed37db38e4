"""Contacts of a person, and whom they meet: annotations of an address, which they alone see.

Someone is in an address book from the ``ts`` of the contact on, until a retraction takes it back:
as a vote stands.  ``value`` is the address, in small letters as those of messages are.  A meeting
has the instant besides at which it ``starts``.
"""

from __future__ import annotations

CONTACT = "contact"
"""The kind of an annotation that says who is in its owner's address book."""

MEETING = "meeting"
"""The kind of an annotation that says whom its owner meets."""

CANCELLED = "cancelled"
"""The kind of an annotation that says by its UID which event its owner's calendar has cancelled."""


def book_of(owner: str) -> str:
    """Return what the contacts of a person are about, in the place of a Message-ID.

    No message is called so: a Message-ID has no space.

    >>> book_of("terry")
    'contacts of terry'
    """
    return f"contacts of {owner}"


def calendar_of(owner: str) -> str:
    """Return what the meetings of a person are about, as ``book_of`` does of contacts.

    >>> calendar_of("terry")
    'calendar of terry'
    """
    return f"calendar of {owner}"
