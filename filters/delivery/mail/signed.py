"""Whose mail a message of this site is: the header that this site signed says so.

Its key begins with the uid of the destination; or it is that of a sample, whose Delivery is stored;
or it names the address that the message asks to confirm.  That of mail about accounts names nobody.
"""

from __future__ import annotations

import uuid

from filters.delivery.models import Address, Delivery, Destination
from filters.people.models import User
from filters.site.work.crypto.delivery_signer import delivery_signer
from tapestry.core.delivery_header import delivery_values

ADDRESS = "address"
"""What the key of a confirmation mail begins with."""


def address_key(address: Address) -> str:
    """Return a new key for mail that asks to confirm an address."""
    return f"{ADDRESS}-{address.pk}-{uuid.uuid4().hex}"


def destination_of(key: str) -> Destination | None:
    """Return the destination of a delivery or sample by its key, None if there is none."""
    destinations = Destination.objects.select_related("owner", "address")
    first, _, rest = key.partition("-")
    try:
        return destinations.filter(uid=uuid.UUID(first)).first()
    except ValueError:
        sample = f"{first}-{rest.partition('-')[0]}"
    deliveries = Delivery.objects.filter(key__in=(key, sample))
    return destinations.filter(pk__in=deliveries.values("destination")).first()


def owner_of(raw: bytes) -> User | None:
    """Return the person that this site wrote a message to; None if it did not sign it.

    Of several headers the first counts: whoever sends a message again puts theirs before it.
    """
    signer = delivery_signer()
    key = signer.key_of(next(delivery_values(raw), ""))
    if key is None:
        return None
    kind, _, rest = key.partition("-")
    if kind == ADDRESS:
        pk = rest.partition("-")[0]
        addresses = Address.objects.select_related("owner")
        address = addresses.filter(pk=int(pk)).first() if pk.isdecimal() else None
        return address.owner if address else None
    destination = destination_of(key)
    return destination.owner if destination else None
