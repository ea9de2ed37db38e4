"""A lost password: a link by mail, which works once and for an hour."""

from __future__ import annotations

from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse

from filters.delivery.contents.links import absolute
from filters.people.emails import accounts_of
from filters.people.membership import mails
from filters.people.membership.ending import end_access
from filters.people.membership.requests_limit import send_limited
from filters.people.models import User
from filters.site.work.crypto import opaque_keys


def send_links(email: str) -> bool:
    """Send a link to an address for each account of its; return False to have it tried again.

    To an address that nobody has, nothing is sent; whoever asked cannot tell.  Nor is it for an
    account whose password the operator made unusable: it is not for its person to enable it again.
    """
    users = [user for user in accounts_of(email) if user.has_usable_password()]
    if not users:
        return True

    def send() -> bool:
        sent = [_send_link(user) for user in users]
        return all(sent)

    return send_limited("reset", email, send)


def user_of(key: str, token: str) -> User | None:
    """Return whose password a link sets; None if it was used, has expired, or is forged."""
    try:
        user = User.objects.filter(pk=opaque_keys.decrypt(key), is_active=True).first()
    except (ValueError, UnicodeError):
        return None
    return user if user and default_token_generator.check_token(user, token) else None


@transaction.atomic
def set_password(user: User, token: str, password: str) -> bool:
    """Set a password by a link; return False if it was used up.

    The person is signed out everywhere, no browser notifies them, and their tokens end.
    """
    stored = User.objects.select_for_update().get(pk=user.pk)
    if not default_token_generator.check_token(stored, token):
        return False
    stored.set_password(password)
    stored.save(update_fields=["password"])
    end_access(stored)
    return True


def _send_link(user: User) -> bool:
    key, token = opaque_keys.encrypt(user.pk), default_token_generator.make_token(user)
    return mails.send(
        user.email,
        "Set a new password for Tapestry",
        "reset",
        person=user.get_username(),
        url=absolute(reverse("reset-password", args=[key, token])),
    )
