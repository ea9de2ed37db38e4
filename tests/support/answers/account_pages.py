"""The pages that strangers reach, by links of mail above all, and those behind a confirmation."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.contrib.auth.tokens import default_token_generator
from django.contrib.sessions.backends.db import SessionStore
from django.urls import reverse
from fido2.utils import websafe_encode
from fido2.webauthn import Aaguid, AttestedCredentialData
from playwright.sync_api import Page

from filters.delivery.contents import links
from filters.delivery.models import Address, Destination
from filters.inbox.models import Match
from filters.people.membership.invitations import invite
from filters.people.membership.removal import removals
from filters.people.models import Export, Passkey, User
from filters.people.second_factor.views import CONFIRMED_AT
from filters.site.work.crypto import opaque_keys
from tapestry.core.clock import wall_clock
from tests.support.people.second_factors import PASSWORD, give_app

EXPIRED = ("/sign-up/expired/", "/forgot/expired/expired/", "/act/vote/expired/")
"""Pages of links that work no longer; their status is 404."""


def pages_of_strangers(user: User) -> list[str]:
    """Return the pages for which nobody is signed in; those of links are about a person's things.

    Sign-up is on.
    """
    match = Match.objects.filter(filter__owner=user).first()
    address = Address.objects.filter(owner=user).first()
    destination = Destination.objects.filter(owner=user).first()
    assert match is not None and address is not None and destination is not None
    leaver = User.objects.create_user("leaver", "leaver@example.org", PASSWORD)
    key, token = opaque_keys.encrypt(user.pk), default_token_generator.make_token(user)
    addresses = (
        *("/sign-in/", "/sign-up/", invite("dave@example.org")[0], "/forgot/"),
        reverse("reset-password", args=[key, token]),
        reverse("account-deleted", args=[removals.ask(leaver)]),
        *(link.url for link in links.acts_of()(match.pk, match.filter.owner.username, match.msgid)),
        links.confirm_url(address.pk, address.email),
        links.unsubscribe_url(destination),
    )
    return [*(urlsplit(address).path for address in addresses), *EXPIRED]


def give_account_things(user: User) -> dict[str, str]:
    """Let who is signed in have an app, a passkey and an export; return keys for addresses."""
    now = wall_clock()
    give_app(user)
    passkey = Passkey.objects.create(
        owner=user, name="Laptop", digest="1", credential=_credential(), created_at=now
    )
    Export.objects.create(owner=user, asked_at=now, ended_at=now, messages=3, size=12_000)
    return {"passkey": opaque_keys.encrypt(passkey.pk)}


def _credential() -> str:
    """Return what is kept of a passkey, of a key on the curve P-256 that nobody has."""
    key = {1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)}
    return websafe_encode(AttestedCredentialData.create(Aaguid(bytes(16)), b"1", key))


def confirm_session(page: Page) -> None:
    """Let a browser count as one whose person has confirmed lately that it is they."""
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    session = SessionStore(cookies["tapestry_session"])
    session[CONFIRMED_AT] = wall_clock()
    session.save()
