"""What holds for every page of somebody: limits of signing in, their browser, their clock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from filters.people.models import User
from filters.people.sessions.record import has_signed_out, record_if_due
from filters.people.signing_in.known_browser import remember
from filters.people.signing_in.outcome import Proven, Refused, outcome_of

Page = Callable[[HttpRequest], HttpResponse]


def sign_in_limits(page: Page) -> Page:
    """Answer 429 where too many passwords were wrong; know a browser where one was right."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = page(request)
        match outcome_of(request):
            case Refused(seconds):
                response.status_code = 429
                response.headers["Retry-After"] = str(seconds)
            case Proven(account):
                remember(request, response, account)
        return response

    return answer


def session_cookie(page: Page) -> Page:
    """Have an answer delete the cookie of a session only where its request signed out.

    Django does so too where a session is not found: whoever signs in has a session with a new key,
    and an answer to what was asked with the former one, if it came later, would sign them out.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = page(request)
        cookie = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and not cookie.value and not has_signed_out(request):
            del response.cookies[settings.SESSION_COOKIE_NAME]
        return response

    return answer


def person(page: Page) -> Page:
    """Serve who is signed in by their own clock, and record their browser.

    No cache keeps their pages, unless a page says otherwise.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        with _clock_of(request.user):
            response = page(request)
        if request.user.is_authenticated:
            response.headers.setdefault("Cache-Control", "private, no-store")
            record_if_due(request, request.user)
        return response

    return answer


def _clock_of(user: User | AnonymousUser) -> AbstractContextManager[object]:
    """Return the clock of a request; that which a token sets ends with it, too."""
    return timezone.override(user.zone if isinstance(user, User) else None)
