"""Credentials: from a stored source to an account that can authenticate."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings

from filters.site.work.crypto.encryption import decrypt, encrypt
from filters.site.work.parts import services
from filters.sources.accounts.oauth import Grant, refresh
from filters.sources.models import Source
from filters.sources.schedule import token_lock
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.servers.account import Account, ConnectionLostError

PATIENCE = 20.0
"""Seconds to wait for another process that refreshes the same token."""

SECRETS = ("secret", "access_token", "access_token_until")
"""The fields of a source that a new secret or a refresh changes."""


def account_of(source: Source, *, edited: bool = False) -> Account:
    """Return the account of a source, its secret decrypted; its token is refreshed if needed.

    ``edited``: the secret is not saved yet.  A refreshed token is put into ``source`` then, and
    not into the database.  Raises TapestryError if the secret cannot be decrypted or the token
    cannot be refreshed.
    """
    security: Any = source.security
    method: Any = source.method
    if source.method == Source.Method.XOAUTH2 and source.token_url:
        secret = _access_token(source) if edited else _stored_access_token(source)
    else:
        secret = read_secret(source).get("secret", "")
    place = (source.kind, source.host, source.port, security)
    allowed = tuple(settings.PRIVATE_HOSTS)
    return Account(*place, source.user, secret, method, allowed, source.path)


def keep_secret(source: Source, secret: str, client_secret: str = "") -> None:
    """Put a secret into a source that is to be saved; its access token is dropped."""
    secrets = {"secret": secret, "client_secret": client_secret}
    source.secret = encrypt(json.dumps(secrets), services.data()) if secret else ""
    source.access_token, source.access_token_until = "", 0


def read_secret(source: Source) -> dict[str, str]:
    """Return the secret of a source, and the secret of the client that refreshes its tokens."""
    text = decrypt(source.secret, services.data())
    secrets: dict[str, str] = json.loads(text) if text else {}
    return secrets


def _stored_access_token(source: Source) -> str:
    """Return the access token of a stored source; refresh it by the stored state, and store it.

    One process at a time: a refresh token may be good for one refresh only.  If the secret or
    the address was edited meanwhile, the edit wins.
    """
    with token_lock(source, PATIENCE) as acquired:
        if not acquired:
            raise ConnectionLostError(
                "Its token is being renewed, and that takes long.", hint="It is tried again later."
            )
        same_account = Source.objects.filter(
            pk=source.pk, host=source.host, user=source.user, token_url=source.token_url
        )
        for name, value in (same_account.values(*SECRETS).first() or {}).items():
            setattr(source, name, value)
        secret, access_token = source.secret, source.access_token
        token = _access_token(source)
        if source.access_token != access_token:
            changes = {name: getattr(source, name) for name in SECRETS}
            same_account.filter(secret=secret).update(**changes)
        return token


def _access_token(source: Source) -> str:
    now = wall_clock()
    if source.access_token and now < source.access_token_until - MINUTE:
        return decrypt(source.access_token, services.data())
    secrets = read_secret(source)
    client_secret, secret = secrets.get("client_secret", ""), secrets.get("secret", "")
    grant = Grant(source.token_url, source.client_id, client_secret, secret)
    token = refresh(grant)
    if token.refresh and token.refresh != secret:
        # The provider rotates refresh tokens: the old one is void.
        keep_secret(source, token.refresh, client_secret)
    source.access_token = encrypt(token.access, services.data())
    source.access_token_until = now + token.seconds * SECOND
    return token.access
