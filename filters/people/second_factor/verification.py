"""Check a second factor, within limits: a try is counted before the code is looked at."""

from __future__ import annotations

from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables
from limits import RateLimitItemPerMinute

from filters.people.models import User
from filters.people.second_factor import passkeys, recovery, totp
from filters.people.signing_in.backend import account_digest, name_digest
from filters.people.signing_in.client_address import client_address, counted_as
from filters.people.signing_in.known_browser import known_browser
from filters.people.signing_in.outcome import Refused, note
from filters.site.work import rate_limits
from filters.site.work.rate_limits import Count, TooManyTriesError, digest
from tapestry.core.log import event

PREFIX = "second-factor"

ACCOUNT_AND_ADDRESS = RateLimitItemPerMinute(5, 5, PREFIX)
ACCOUNT = RateLimitItemPerMinute(20, 60, PREFIX)
KNOWN_BROWSER = RateLimitItemPerMinute(5, 5, PREFIX)
"""Failures that are allowed, and in how many minutes.  Who fails here knows the password."""

WRONG = "wrong codes"


@sensitive_variables("code", "answer")
def is_proven(request: HttpRequest, user: User, code: str, answer: str) -> bool:
    """Tell whether a code, or what a passkey answered, is the person's second factor.

    Past a limit nothing is looked at: the request notes that it was refused.
    """
    log_fields = {"account": user.get_username(), "address": client_address(request)}
    try:
        give_back = rate_limits.reserve(_counts(request, user))
    except TooManyTriesError as refusal:
        event("second_factor_refused", **log_fields, reason=refusal.reason)
        note(request, Refused(refusal.seconds, WRONG))
        return False
    plain = "".join(code.split())
    proven = (
        passkeys.take(request, user, answer)
        if answer
        else totp.take(user, plain) or recovery.take(user, plain)
    )
    if proven:
        give_back()
    else:
        event("second_factor_failed", **log_fields)
    return proven


def _counts(request: HttpRequest, user: User) -> list[Count]:
    name = user.get_username()
    account, browser = account_digest(name), known_browser(request, name_digest(name))
    if browser is not None:
        key = digest("second factor", account, browser)
        return [Count("known browser", KNOWN_BROWSER, key)]
    pair_key = digest("second factor", account, counted_as(client_address(request)))
    return [
        Count("account and address", ACCOUNT_AND_ADDRESS, pair_key),
        Count("account", ACCOUNT, digest("second factor", account)),
    ]
