"""The header by which mail that Tapestry sent is known again, so that it never goes round.

Every digest and forward carries it, and what carries it is not taken in as new mail: that of any
site, so that two sites do not feed each other.
"""

from __future__ import annotations

from collections.abc import Iterable

DELIVERY_HEADER = "X-Tapestry-Delivery"
"""Its value is the key of the delivery (an idempotency key)."""


def is_ours(headers: Iterable[str]) -> bool:
    """Return whether Tapestry sent the message with these header names.

    A message of the email package and a mapping by name are such names.  Only the message's own
    headers count, not those of a message that is attached to it.

    >>> is_ours({"Subject": "3 new in lunch", "x-tapestry-delivery": "digest-1-40"})
    True
    """
    return any(name.lower() == DELIVERY_HEADER.lower() for name in headers)
