"""The page that says whether what somebody brought has reached every delivery of theirs."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from filters.compose.arrival import NoSuchTokenError, StoppedError, remaining_of
from filters.people.requests import PersonRequest, wants_fragment


@require_safe
def arrived(request: PersonRequest, token: str) -> HttpResponse:
    """Show how far what a token is of has come; the page asks again until that is everywhere.

    404 for the token of another person, or of nothing.
    """
    context: dict[str, object] = {"token": token}
    try:
        context["remaining"] = remaining_of(token, request.user)
    except NoSuchTokenError as error:
        raise Http404(error.message) from error
    except StoppedError as error:
        context["stopped"] = error
    page = "compose/_arrived.html" if wants_fragment(request) else "compose/arrived.html"
    return render(request, page, context)
