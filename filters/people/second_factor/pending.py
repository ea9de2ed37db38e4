"""Who has given the password, and not the second factor yet, is nobody to every page.

Whatever page signed them in: the mark is set as Django tells that somebody has signed in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from filters.people.factors import has_second_factor
from filters.people.models import User
from filters.people.sessions.record import record
from filters.people.signing_in.backend import name_digest
from filters.people.signing_in.outcome import Proven, note
from tapestry.core.clock import MINUTE, wall_clock

Page = Callable[[HttpRequest], HttpResponse]

SINCE = "second_factor_pending"
"""Where a session keeps the instant of the password."""

PATIENCE = 10 * MINUTE
"""How long after the password the second factor is waited for."""

_USER = "tapestry.pending_user"


def connect_signals() -> None:
    """Ask for the second factor wherever somebody signs in who has one."""
    user_logged_in.connect(_signed_in, dispatch_uid="second factor of who signs in")


def pending_user(request: HttpRequest) -> User | None:
    """Return who has given the password in this browser, and not the second factor yet."""
    user: User | None = request.META.get(_USER)
    return user


def is_pending(request: HttpRequest) -> bool:
    return SINCE in request.session


def code_page(request: HttpRequest, back: str) -> str:
    """Return the address of the page that asks for the code, and leads back."""
    address = reverse("sign-in-code")
    return f"{address}?{urlencode({REDIRECT_FIELD_NAME: back})}" if back else address


def complete(request: HttpRequest, user: User) -> None:
    """Sign in who has given both: the session gets a new key, and the browser is known."""
    request.session.pop(SINCE, None)
    request.session.cycle_key()
    note(request, Proven(name_digest(user.get_username())))
    record(request, user)


def second_factor_first(page: Page) -> Page:
    """Let nobody be signed in whose second factor is waited for."""
    sign_in_pages = (reverse(settings.LOGIN_URL), reverse("admin:login"))

    def answer(request: HttpRequest) -> HttpResponse:
        if not is_pending(request):
            return page(request)
        user, age = request.user, wall_clock() - request.session[SINCE]
        if not (0 <= age < PATIENCE and user.is_authenticated):
            request.session.flush()
            user = AnonymousUser()
        request.user = AnonymousUser()
        request.auser = _nobody
        if not user.is_authenticated:
            return page(request)
        request.META[_USER] = user
        if request.method in ("GET", "HEAD") and request.path in sign_in_pages:
            return redirect(code_page(request, request.GET.get(REDIRECT_FIELD_NAME, "")))
        return page(request)

    return answer


async def _nobody() -> AnonymousUser:
    return AnonymousUser()


def _signed_in(request: HttpRequest | None, user: User, **_: Any) -> None:
    if request is None:
        return
    if has_second_factor(user):
        request.session[SINCE] = wall_clock()
    else:
        request.session.pop(SINCE, None)
        record(request, user)
