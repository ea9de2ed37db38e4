"""The address of an account: whether its person has shown that it is theirs.

One that the operator gave is taken for theirs.  One that the person wrote has a row (Address),
which the link that is sent there confirms.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from filters.accounts.folded_names import folded
from filters.models import Address

MOST_ACCOUNTS = 5
"""Accounts of one address to which a reset is sent."""


def is_unconfirmed(user: User) -> bool:
    """Tell whether nobody has shown yet that the address of an account is its person's."""
    rows = Address.objects.filter(owner=user, email__iexact=user.email, confirmed_at=None)
    return bool(user.email) and rows.exists()


@transaction.atomic
def change(user: User, email: str) -> Address | None:
    """Store another address of an account, or none; return its row, which may be unconfirmed."""
    user.email = User.objects.normalize_email(email)
    user.save(update_fields=["email"])
    return Address.objects.get_or_create(owner=user, email=user.email)[0] if user.email else None


def accounts_of(email: str) -> list[User]:
    """Return the active accounts whose own, confirmed address this is, as it may be typed."""
    found = User.objects.filter(email__iexact=email, is_active=True).order_by("pk")
    same = (user for user in found if folded(user.email) == folded(email))
    return [user for user in same if user.email and not is_unconfirmed(user)][:MOST_ACCOUNTS]
