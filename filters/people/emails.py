"""The address of an account: whether its person has shown that it is theirs.

One that the operator gave is taken for theirs until they write another.  What they write is a claim
(User.claimed_email).  It counts once it is proven: by the link that was sent there, opened by
who is signed in to the account.  Which addresses a person has for other purposes has no say in it.
"""

from __future__ import annotations

from filters.delivery.models import Address
from filters.people.models import User
from filters.people.names.folded_names import folded
from filters.runs.models import SharedWindow
from filters.site.settings.email_url import is_kept_only

MOST_ACCOUNTS = 5
"""Accounts of one address to which a reset is sent."""


def is_unconfirmed(user: User) -> bool:
    """Tell whether the person wrote the address of an account, and has not proven it yet."""
    claimed = User.objects.values_list("claimed_email", flat=True).get(pk=user.pk)
    if not user.email or folded(claimed) != folded(user.email):
        return False
    proven = Address.objects.filter(owner=user, proven=True, confirmed_at__isnull=False)
    return not proven.filter(email__iexact=user.email).exists()


def awaits_link(user: User) -> bool:
    """Tell whether a link would confirm the address; a site that sends no mail proves none."""
    return not is_kept_only() and is_unconfirmed(user)


def change(user: User, email: str) -> Address | None:
    """Store another address of an account, or none, as its person wrote it; return its row."""
    user.email = email = User.objects.normalize_email(email)
    with user.saving(["email"]) as save:
        SharedWindow.lock_all()  # saving the account has filters run again: locked before its row
        former = User.objects.select_for_update().get(pk=user.pk).email  # one change at a time
        if folded(email) != folded(former):
            User.objects.filter(pk=user.pk).update(claimed_email=email)
        save()
        return Address.objects.get_or_create(owner=user, email=email)[0] if email else None


def trust(user: User) -> None:
    """Take the address of an account for its person's: the operator has given it."""
    User.objects.filter(pk=user.pk).update(claimed_email="")


def accounts_of(email: str) -> list[User]:
    """Return the active accounts whose own, confirmed address this is, as it may be typed."""
    found = User.objects.filter(email__iexact=email, is_active=True).order_by("pk")
    same = (user for user in found if folded(user.email) == folded(email))
    return [user for user in same if user.email and not is_unconfirmed(user)][:MOST_ACCOUNTS]
