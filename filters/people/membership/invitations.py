"""Links to make an account: asked for, or given by an operator; each works once."""

from __future__ import annotations

import secrets

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from filters.delivery.contents.links import absolute
from filters.delivery.models import Address
from filters.people.emails import accounts_of
from filters.people.membership import mails
from filters.people.membership.requests_limit import send_limited
from filters.people.models import Invitation, User
from filters.site.settings.email_url import is_kept_only
from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.clock import DAY, wall_clock

DAYS = 14
"""How long the link of an operator works."""

KEPT = {True: 1 * DAY, False: DAYS * DAY}
"""How long a link works that somebody asked for, and one of an operator."""


def invite(email: str) -> tuple[str, bool]:
    """Invite somebody; return the address of the link, and whether it was sent to them."""
    url = new_link(email)
    return url, not is_kept_only() and send_invitation(email, url)


def new_link(email: str, *, is_asked: bool = False) -> str:
    """Return the address of a new link, which is stored nowhere."""
    token, now = secrets.token_urlsafe(32), wall_clock()
    Invitation.objects.create(
        email=User.objects.normalize_email(email),
        digest=_digest(token),
        is_asked=is_asked,
        created_at=now,
        expires_at=now + KEPT[is_asked],
    )
    return absolute(reverse("make-account", args=[token]))


def send_invitation(email: str, url: str) -> bool:
    """Send a link to an address; return False to have it tried again."""
    return mails.send(email, "Your account at Tapestry", "invitation", url=url)


def open_invitations() -> QuerySet[Invitation]:
    """Return the invitations of operators whose links still work, the newest first."""
    unused = Invitation.objects.filter(is_asked=False, used_at=None)
    return unused.filter(expires_at__gt=wall_clock()).order_by("-created_at", "-pk")


def withdraw(key: int) -> bool:
    """Take an invitation back; return False if it was used, has expired, or was taken back."""
    return bool(open_invitations().filter(pk=key).delete()[0])


def send_link(email: str) -> bool:
    """Send a link that was asked for to an address; return False to have it tried again.

    Whose address it is already is told that instead: whoever asked cannot tell.
    """
    return send_limited("sign-up", email, lambda: _send_link(email))


def _send_link(email: str) -> bool:
    if users := accounts_of(email):
        names = ", ".join(user.get_username() for user in users)
        url = absolute(reverse("sign-in"))
        return mails.send(email, "Your account at Tapestry", "have_account", names=names, url=url)
    return send_invitation(email, new_link(email, is_asked=True))


def invitation_of(token: str) -> Invitation | None:
    """Return the invitation of a token; None if it was used, has expired, or is forged."""
    unused = Invitation.objects.filter(digest=_digest(token), used_at=None)
    return unused.filter(expires_at__gt=wall_clock()).first()


@transaction.atomic
def make_account(invitation: Invitation, name: str, password: str) -> User | None:
    """Make the account of an invitation, its address confirmed; None if it was used meanwhile."""
    now = wall_clock()
    if not Invitation.objects.filter(pk=invitation.pk, used_at=None).update(used_at=now):
        return None
    user = User.objects.create_user(name, invitation.email, password)
    Address.objects.create(owner=user, email=user.email, confirmed_at=now)
    return user


def forget_old() -> None:
    """Delete invitations that have expired."""
    Invitation.objects.filter(expires_at__lt=wall_clock()).delete()


def _digest(token: str) -> str:
    return keyed_digest("invitation", token)
