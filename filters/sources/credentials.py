"""From a stored source to an account that one can log in with."""

from __future__ import annotations

import json
from typing import Any

from filters import parts
from filters.models_source import Source
from filters.sealed import seal, unseal
from filters.sources.tokens import Grant, renew
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.ingest.account import Account


def account_of(source: Source) -> Account:
    """Return the account of a source, its secret in the clear; a token is renewed if it must be.

    Raises TapestryError where the secret cannot be read or the token not be renewed.
    """
    kind: Any = source.kind
    security: Any = source.security
    method: Any = source.method
    account = Account(kind, source.host, source.port, security, source.user, "", method)
    given = read_secret(source)
    if source.method == Source.Method.XOAUTH2 and source.token_url:
        return account.with_secret(_renewed(source, given))
    return account.with_secret(given.get("secret", ""))


def keep_secret(source: Source, secret: str, client_secret: str = "") -> None:
    """Put a secret into a source that is yet to be saved; what was renewed before is void."""
    both = {"secret": secret, "client_secret": client_secret}
    source.secret = seal(json.dumps(both), parts.data()) if secret else ""
    source.renewed, source.renewed_until = "", 0


def read_secret(source: Source) -> dict[str, str]:
    """Return the secret of a source, and that of the program that may renew its tokens."""
    sealed = unseal(source.secret, parts.data())
    found: dict[str, str] = json.loads(sealed) if sealed else {}
    return found


def _renewed(source: Source, given: dict[str, str]) -> str:
    now = wall_clock()
    if source.renewed and now < source.renewed_until - MINUTE:
        return unseal(source.renewed, parts.data())
    grant = Grant(
        source.token_url, source.client, given.get("client_secret", ""), given.get("secret", "")
    )
    token = renew(grant)
    if token.refresh and token.refresh != grant.refresh:
        # The old one is void from now on: keep the new before anything else can fail.
        keep_secret(source, token.refresh, grant.client_secret)
    source.renewed = seal(token.access, parts.data())
    source.renewed_until = now + token.seconds * SECOND
    Source.objects.filter(pk=source.pk).update(
        secret=source.secret, renewed=source.renewed, renewed_until=source.renewed_until
    )
    return token.access
