"""Access tokens for XOAUTH2: the refresh of RFC 6749, section 6.

`oauthlib` writes the request and reads the response.  It is sent as webhooks are: over TLS alone,
to a checked host, to no other address than the given one, and with a limit on time and on the
response (tapestry.deliver.http.post).
"""

from __future__ import annotations

import os
import time
import urllib.parse
from dataclasses import dataclass, field

from django.conf import settings

from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.http.post import Answer, NoAnswerError, post
from tapestry.servers.account import ConnectionLostError, RefusedError, is_this_machine
from tapestry.servers.connection import wait_until
from tapestry.servers.private_hosts import AddressRefusedError

TIMEOUT = 10.0
"""Seconds for an answer; that there is none is told after these."""

LONGEST_RESPONSE = 1024 * 1024
MINUTE, HOUR, DAY = 60, 3600, 24 * 3600
"""Seconds for which a token is good: at least, if its provider does not say, and at most."""

LOCAL = "TAPESTRY_LOCAL_TOKENS"
"""Set to 1, it allows token endpoints on this machine without TLS."""

ERROR_CODES = (
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
)
"""Error codes that are quoted (RFC 6749, section 5.2); of others only the status is."""

_NO_TOKEN = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading a malformed response raises."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A refresh token, the endpoint that takes it, and the client it was issued to."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    refresh: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Token:
    """An access token, the seconds it is good for, and a new refresh token if there is one."""

    access: str = field(repr=False)
    seconds: int
    refresh: str = field(default="", repr=False)


def check_token_url(url: str) -> None:
    """Raise TapestryError unless secrets may be sent there: https, or this machine if allowed.

    Any user of the site can enter such an address, and other services of this machine could
    take what is sent to them for a command.
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


def refresh(grant: Grant) -> Token:
    """Return a new access token.

    Raises RefusedError if the provider refuses, ConnectionLostError if it does not answer.
    """
    # Late: the import takes a tenth of a second.
    from oauthlib.oauth2.rfc6749.parameters import prepare_token_request

    check_token_url(grant.url)
    body: str = prepare_token_request(
        "refresh_token",
        refresh_token=grant.refresh,
        client_id=grant.client_id or None,
        client_secret=grant.client_secret or None,
    )
    host = urllib.parse.urlsplit(grant.url).hostname
    begun = time.monotonic()
    try:
        answer = post(
            grant.url,
            body.encode(),
            {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"},
            allowed=_allowed(),
            seconds=TIMEOUT,
            most_bytes=LONGEST_RESPONSE,
        )
    except (NoAnswerError, AddressRefusedError) as error:
        # One sentence and one time for all of these, as in tapestry.servers.connection.
        event("no_token", host=host, reason=str(error.__cause__ or error))
        wait_until(begun + TIMEOUT)
        raise ConnectionLostError(
            f"{host} cannot be asked for a token.",
            hint="It is asked again later. A host that is not public must be allowed by who runs "
            "this site (TAPESTRY_PRIVATE_HOSTS).",
        ) from None
    if answer.status >= 500 or answer.status == 429:
        raise ConnectionLostError(
            f"{host} gives no tokens just now ({answer.status}).", hint="It is asked again later."
        )
    if answer.status != 200:
        raise RefusedError(
            f"{host} refused to renew the token ({_error_code(answer)}).",
            hint="Give this program access anew there, and put the new refresh token in here.",
        )
    try:
        return _token_in(answer.text)
    except _NO_TOKEN as error:
        raise ConnectionLostError(
            f"{host} answers with what is no token.", hint="Check the address of its tokens."
        ) from error


def _allowed() -> list[str]:
    """Return what a token endpoint may be on beside public hosts."""
    local = ["127.0.0.0/8", "::1/128"] if os.environ.get(LOCAL) == "1" else []
    return [*settings.PRIVATE_HOSTS, *local]


def _token_in(body: str) -> Token:
    """Return the token of a response (RFC 6749, section 5.1).  Raises one of ``_NO_TOKEN``."""
    from oauthlib.oauth2 import OAuth2Error
    from oauthlib.oauth2.rfc6749.parameters import parse_token_response

    try:
        response = parse_token_response(body)
    except OAuth2Error:
        raise ValueError("no token") from None  # its text is the provider's, and not to be kept
    seconds = min(max(MINUTE, int(response.get("expires_in") or HOUR)), DAY)
    access, refresh_token = response["access_token"], response.get("refresh_token") or ""
    if not access or not (access + refresh_token).isascii():
        raise ValueError("no token")
    return Token(access, seconds, refresh_token)


def _error_code(answer: Answer) -> str:
    """Return the error code of a refusal, or the status if it is none of the standard's."""
    from oauthlib.oauth2 import OAuth2Error
    from oauthlib.oauth2.rfc6749.parameters import parse_token_response

    try:
        parse_token_response(answer.text)
    except OAuth2Error as refusal:
        if refusal.error in ERROR_CODES:
            return str(refusal.error)
    except _NO_TOKEN:
        pass
    return str(answer.status)
