"""What follows from a password, for every page that asks for one."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

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
