"""The authentication backend: Django's own, within limits."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables
from limits import RateLimitItemPerMinute

from filters.people.factors import has_second_factor
from filters.people.models import User
from filters.people.names.folded_names import folded
from filters.people.signing_in.client_address import client_address, counted_as
from filters.people.signing_in.known_browser import known_browser
from filters.people.signing_in.outcome import Proven, Refused, note
from filters.site.work import rate_limits
from filters.site.work.rate_limits import Count, TooManyTriesError, digest
from tapestry.core.log import event

PREFIX = "sign-in"

ACCOUNT_AND_ADDRESS = RateLimitItemPerMinute(5, 5, PREFIX)
ADDRESS = RateLimitItemPerMinute(30, 15, PREFIX)
ACCOUNT = RateLimitItemPerMinute(50, 15, PREFIX)
KNOWN_BROWSER = RateLimitItemPerMinute(5, 5, PREFIX)
"""Failures that are allowed, and in how many minutes."""

LONGEST = 150
"""Characters of a name that are logged; no account has a longer one."""


class LimitedBackend(ModelBackend):
    """Checks a password, unless there were too many wrong ones.

    Every page that asks for one calls ``authenticate(request, username=…, password=…)``.  Without
    a request, at the command line, there is no limit.
    """

    @sensitive_variables("password")
    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **named: Any,
    ) -> User | None:
        """Return the account, or None.  Raise PermissionDenied if a limit is reached.

        What came of it is noted in the request: the answer depends on it (`middleware`).
        """
        if request is None or username is None or password is None:
            return super().authenticate(request, username, password, **named)
        address, name = client_address(request), name_digest(username)
        told = {"account": username[:LONGEST], "address": address}
        try:
            give_back = rate_limits.reserve(_counts(request, username, counted_as(address)))
        except TooManyTriesError as refusal:
            event("sign_in_refused", **told, reason=refusal.reason)
            note(request, Refused(refusal.seconds))
            raise PermissionDenied from refusal
        user = super().authenticate(request, username, password, **named)
        if user is None:
            event("sign_in_failed", **told, reason="wrong name or password")
        else:
            give_back()
            if not has_second_factor(user):  # else the browser is known once that was given too
                note(request, Proven(name))
        return user

    async def aauthenticate(self, *arguments: Any, **named: Any) -> User | None:
        """Do the same: Django's own would know no limits."""
        return await sync_to_async(self.authenticate)(*arguments, **named)


def account_digest(username: str) -> str:
    """Return what stands for an account, however its name is typed."""
    return digest("account", folded(username))


def name_digest(username: str) -> str:
    """Return what stands for a name as accounts are found by it: a browser knows one alone."""
    return digest("name", User.normalize_username(username))


def _counts(request: HttpRequest, username: str, address: str) -> list[Count]:
    account, browser = account_digest(username), known_browser(request, name_digest(username))
    if browser is not None:
        key = digest("browser", account, browser)
        return [Count("known browser", KNOWN_BROWSER, key)]
    both = digest("account and address", account, address)
    return [
        Count("account and address", ACCOUNT_AND_ADDRESS, both),
        Count("address", ADDRESS, digest("address", address)),
        Count("account", ACCOUNT, account),
    ]
