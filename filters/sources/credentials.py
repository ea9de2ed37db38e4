"""From a stored source to an account that one can log in with."""

from __future__ import annotations

import json
from typing import Any

from filters.models.source import Source
from filters.runtime import services
from filters.runtime.encryption import decrypt, encrypt
from filters.sources.lock import source_lock
from filters.sources.oauth import Grant, renew
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.ingest.account import Account, ConnectionLostError

PATIENCE = 20.0
"""Seconds to wait for another process that renews the same token."""

SECRETS = ("secret", "access_token", "access_token_until")
"""The fields of a source that a new secret, or a renewal, changes."""


def account_of(source: Source, *, edited: bool = False) -> Account:
    """Return the account of a source, its secret in the clear; a token is renewed if it must be.

    ``edited``: its secret is yet to be saved; what a renewal brings is put into ``source`` then,
    and not into the database.  Raises TapestryError where the secret cannot be read or the
    token not be renewed.
    """
    kind: Any = source.kind
    security: Any = source.security
    method: Any = source.method
    account = Account(kind, source.host, source.port, security, source.user, "", method)
    if source.method == Source.Method.XOAUTH2 and source.token_url:
        token = _renewed(source) if edited else _renewed_and_stored(source)
        return account.with_secret(token)
    return account.with_secret(read_secret(source).get("secret", ""))


def keep_secret(source: Source, secret: str, client_secret: str = "") -> None:
    """Put a secret into a source that is yet to be saved; what was renewed before is void."""
    both = {"secret": secret, "client_secret": client_secret}
    source.secret = encrypt(json.dumps(both), services.data()) if secret else ""
    source.access_token, source.access_token_until = "", 0


def read_secret(source: Source) -> dict[str, str]:
    """Return the secret of a source, and that of the program that may renew its tokens."""
    sealed = decrypt(source.secret, services.data())
    found: dict[str, str] = json.loads(sealed) if sealed else {}
    return found


def _renewed_and_stored(source: Source) -> str:
    """Return a token for a stored source, by what is stored now, and keep what a renewal brings.

    One process at a time: a refresh token may be good for one renewal only.  Who gives another
    secret, or has it sent elsewhere, meanwhile is not overruled.
    """
    with source_lock(source, "token", PATIENCE) as acquired:
        if not acquired:
            raise ConnectionLostError(
                "Its token is being renewed, and that takes long.", hint="It is tried again later."
            )
        same = Source.objects.filter(
            pk=source.pk, host=source.host, user=source.user, token_url=source.token_url
        )
        for name, value in (same.values(*SECRETS).first() or {}).items():
            setattr(source, name, value)
        sealed, access_token = source.secret, source.access_token
        token = _renewed(source)
        if source.access_token != access_token:
            now = {name: getattr(source, name) for name in SECRETS}
            same.filter(secret=sealed).update(**now)
        return token


def _renewed(source: Source) -> str:
    now = wall_clock()
    if source.access_token and now < source.access_token_until - MINUTE:
        return decrypt(source.access_token, services.data())
    given = read_secret(source)
    grant = Grant(
        source.token_url, source.client_id, given.get("client_secret", ""), given.get("secret", "")
    )
    token = renew(grant)
    if token.refresh and token.refresh != grant.refresh:
        # The old one is void from now on.
        keep_secret(source, token.refresh, grant.client_secret)
    source.access_token = encrypt(token.access, services.data())
    source.access_token_until = now + token.seconds * SECOND
    return token.access
