"""Tokens for XOAUTH2: a new access token for a refresh token (RFC 6749, section 6)."""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.ingest.account import ConnectionLostError, RefusedError, is_this_machine, tls_context

TIMEOUT = 20
LONGEST_ANSWER = 1024 * 1024
MINUTE, HOUR, DAY = 60, 3600, 24 * 3600

LOCAL = "TAPESTRY_LOCAL_TOKENS"
"""Set to 1, it lets tokens be got from this machine without TLS, where others serve too."""

SAID = (
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
)
"""What a provider may say of a refusal; of anything else just the number is told."""

_NO_TOKEN = (
    http.client.HTTPException,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading an answer raises that is not what a provider should say."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a provider gave once, for a program to get access tokens with."""

    url: str
    client: str
    client_secret: str = field(repr=False)
    refresh: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Token:
    """An access token, for how many seconds it is good, and a new refresh token if there is one."""

    access: str = field(repr=False)
    seconds: int
    refresh: str = field(default="", repr=False)


def check_token_url(url: str) -> None:
    """Raise TapestryError unless secrets may be sent there: https, or this machine if allowed.

    Whoever has an account gives such addresses, and other services of this machine may take
    what is sent to them for an order.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urllib.parse.SplitResult("", "", "", "", ""), ""
    local = parts.scheme == "http" and is_this_machine(host) and os.environ.get(LOCAL) == "1"
    if host and (parts.scheme == "https" or local):
        return
    raise TapestryError(
        "Tokens can be got from an https:// address only.",
        hint="The provider's documentation names its token endpoint.",
    )


def renew(grant: Grant) -> Token:
    """Ask for a new access token.

    Raises RefusedError if the provider refuses, ConnectionLostError if it does not answer.
    """
    check_token_url(grant.url)
    fields = {
        "grant_type": "refresh_token",
        "refresh_token": grant.refresh,
        "client_id": grant.client,
        "client_secret": grant.client_secret,
    }
    body = urllib.parse.urlencode({name: value for name, value in fields.items() if value})
    request = urllib.request.Request(
        grant.url, body.encode(), {"Accept": "application/json"}, method="POST"
    )
    opener = urllib.request.build_opener(
        _NoRedirect, urllib.request.HTTPSHandler(context=tls_context())
    )
    host = urllib.parse.urlsplit(grant.url).hostname
    try:
        with opener.open(request, timeout=TIMEOUT) as answer:
            said = json.loads(answer.read(LONGEST_ANSWER))
            return _read(said)
    except urllib.error.HTTPError as error:
        if error.code >= 500 or error.code == 429:
            raise ConnectionLostError(
                f"{host} gives no tokens just now ({error.code}).", hint="It is asked again later."
            ) from None
        raise RefusedError(
            f"{host} refused to renew the token ({_reason(error)}).",
            hint="Give this program access anew there, and put the new refresh token in here.",
        ) from None
    except OSError as error:
        reason = getattr(error, "reason", None) or error
        raise ConnectionLostError(
            f"{host} cannot be asked for a token: {reason}.", hint="It is asked again later."
        ) from None
    except _NO_TOKEN as error:
        raise ConnectionLostError(
            f"{host} answers with what is no token.", hint="Check the address of its tokens."
        ) from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Send secrets to no other address than the one that was given."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        """Follow none."""


def _read(said: Any) -> Token:
    seconds = min(max(MINUTE, int(said.get("expires_in") or HOUR)), DAY)
    access, refresh = said["access_token"], said.get("refresh_token") or ""
    if not access or not (access + refresh).isascii():
        raise ValueError("no token")
    return Token(access, seconds, refresh)


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        said = json.loads(error.read(LONGEST_ANSWER)).get("error")
        return said if said in SAID else str(error.code)
    except (*_NO_TOKEN, OSError):
        return str(error.code)
