"""The addresses that a person may write from: those that they have confirmed, and no others.

So nobody can write as somebody else.  Which addresses are `me` in a filter is another matter: what
a person says there is for themselves alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from filters.compose.servers import kind_of
from filters.delivery.mail.addresses import address_of_person, is_confirmed, send_link
from filters.delivery.models import Address
from filters.people import people
from filters.people.models import User
from filters.people.recipient_field import RecipientField
from tapestry.compose.recipients import Recipient
from tapestry.core.errors import TapestryError

MOST_ADDRESSES = 50
"""Addresses that a person may have."""


def senders(owner: User) -> list[str]:
    """Return the addresses that a person may write from, that of the account first."""
    rows = Address.objects.filter(owner=owner).order_by("pk")
    if kind_of(owner) == "site":  # the server of another says by itself who may write as whom
        rows = rows.filter(proven=True)
    usable = [row.email for row in rows if is_confirmed(row)]
    return sorted(usable, key=lambda email: email.lower() != owner.email.lower())


def usual_sender(owner: User, recipients: Iterable[str] = ()) -> str:
    """Return the address that a reply is written from: the one that was written to, if any.

    Empty if the person has confirmed none.
    """
    known = senders(owner)
    written_to = {address.lower() for address in recipients}
    first = next(iter(known), "")
    return next((email for email in known if email.lower() in written_to), first)


def confirm_another(owner: User, email: str) -> None:
    """Send the link that confirms an address to write from.

    Raise TapestryError if there are too many, or it cannot be sent; ValidationError for what is no
    address.
    """
    RecipientField(max_length=254).clean(email)
    known = Address.objects.filter(owner=owner)
    if not known.filter(email__iexact=email).exists() and known.count() >= MOST_ADDRESSES:
        raise TapestryError(f"You have {MOST_ADDRESSES} addresses, as many as may be.")
    send_link(address_of_person(owner, email))


def sender_of(owner: User, email: str) -> Recipient:
    """Return who a letter is from; raise TapestryError unless the address is theirs."""
    if email not in senders(owner):
        raise TapestryError(
            "Choose one of the addresses that you have confirmed.",
            hint="Under Sending you can confirm another.",
        )
    return Recipient(email, owner.get_full_name() or owner.get_username())


def own_addresses(owner: User) -> set[str]:
    """Return all addresses that a reply to all leaves out, in lower case."""
    rows = Address.objects.filter(owner=owner, confirmed_at__isnull=False)
    return {
        *people.addresses(owner),
        *(email.lower() for email in rows.values_list("email", flat=True)),
    }
