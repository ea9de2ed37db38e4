"""Contacts of a person: annotations of an address, which they alone see.

Someone is in an address book from the ``ts`` of the contact on, until a retraction takes it back:
as a vote stands.  ``value`` is the address, in small letters as those of messages are.
"""

from __future__ import annotations

CONTACT = "contact"
"""The kind of an annotation that says who is in its owner's address book."""


def book_of(owner: str) -> str:
    """Return what the contacts of a person are about, in the place of a Message-ID.

    No message is called so: a Message-ID has no space.

    >>> book_of("terry")
    'contacts of terry'
    """
    return f"contacts of {owner}"
