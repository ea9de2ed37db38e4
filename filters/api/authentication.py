"""Personal access tokens: made, checked at each call, and limited.

``Authorization: Bearer tapestry_…`` (RFC 6750).  Of the secret, 256 random bits, a digest alone is
kept: whoever reads the database cannot use the API.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from hashlib import sha256
from typing import TYPE_CHECKING

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from limits import parse
from ninja.errors import AuthenticationError, AuthorizationError
from ninja.security import HttpBearer

from filters.api.models import SCOPES, AccessToken
from filters.people.budgets import require_room
from filters.people.models import User
from filters.people.requests import PersonRequest
from filters.site.work.rate_limits import Count, digest, reserve
from tapestry.core.clock import DAY, MINUTE, wall_clock
from tapestry.core.errors import TapestryError

if TYPE_CHECKING:

    class TokenRequest(PersonRequest):
        """A request of a program, as PersonalToken lets it in."""

        auth: AccessToken

else:
    TokenRequest = PersonRequest

PREFIX = "tapestry_"
"""With which a token begins, so that those who look for secrets in code find it."""

RECORDED = MINUTE
"""How exactly it is recorded when a token was last used, and for which call."""

CALLS = parse("600/minute")
"""Calls that a token may make."""

LONGEST_DAYS = 366


def make_token(
    owner: User, name: str, scopes: Collection[str], days: int
) -> tuple[AccessToken, str]:
    """Make a token that ends after so many days; return it, and the secret, which is kept nowhere.

    Raise TapestryError where the owner has as many as they may, or nothing is opened.
    """
    chosen = " ".join(scope for scope in SCOPES if scope in scopes)
    if not chosen:
        raise TapestryError("The token opens nothing.", hint="Tick what it may do.")
    require_room(owner, "tokens")
    secret = PREFIX + secrets.token_urlsafe(32)
    now = wall_clock()
    token = AccessToken.objects.create(
        owner=owner,
        name=name,
        digest=_digest(secret),
        scopes=chosen,
        created_at=now,
        ends_at=now + min(days, LONGEST_DAYS) * DAY,
    )
    return token, secret


class PersonalToken(HttpBearer):
    """Lets a call be made by who has a token of a scope: its owner, by their own clock."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> AccessToken | None:
        """Return the token of a call, None if it opens nothing here.

        Raise AuthorizationError if it has not the scope, TooManyTriesError at its limit.
        """
        found = token_of(token)
        if found is None:
            return None
        count_call(found)
        note_use(found)
        if self.scope not in found.scopes.split():
            raise AuthorizationError(
                message=f"This token may not {SCOPES[self.scope].replace('your', 'its owner’s')}."
            )
        request.user = found.owner
        timezone.activate(found.owner.zone)
        return found


def token_of(secret: str) -> AccessToken | None:
    """Return the token of a secret; None if there is none, or it has ended."""
    return _standing().filter(digest=_digest(secret)).first()


def token_with(key: int, scope: str) -> AccessToken | None:
    """Return the token of a primary key; None if it has ended, or has not a scope."""
    token = _standing().filter(pk=key).first()
    return token if token is not None and scope in token.scopes.split() else None


def require_standing(token: AccessToken) -> None:
    """Raise AuthenticationError where a token has ended by now."""
    if not _standing().filter(pk=token.pk).exists():
        raise AuthenticationError


def note_use(token: AccessToken) -> None:
    """Record that a token is used now."""
    now = wall_clock()
    if token.used_at is None or not 0 <= now - token.used_at < RECORDED:
        AccessToken.objects.filter(pk=token.pk).update(used_at=now)


def count_call(token: AccessToken) -> None:
    """Count a call of a token; raise TooManyTriesError at its limit."""
    reserve([Count("api", CALLS, digest("api", str(token.pk)))])


def _standing() -> QuerySet[AccessToken]:
    tokens = AccessToken.objects.select_related("owner")
    return tokens.filter(ends_at__gt=wall_clock(), owner__is_active=True)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
