"""A trial on its page: the page asks how it stands until it has ended."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from filters.people.requests import PersonRequest, wants_fragment
from filters.sources import trials
from filters.sources.models import Trial
from tapestry.core.errors import TapestryError


@require_safe
def trial(request: PersonRequest, pk: int) -> HttpResponse:
    """Show how a trial stands; once it has gone well, go on with the page that follows.

    Without JavaScript it is a page, and its link asks again.
    """
    followed = trials.followed(request.user, pk)
    if followed is None:
        raise Http404("There is no such trial.")
    is_fragment, context = wants_fragment(request), {"trial": followed}
    if followed.ended_at is not None and not followed.error and "url" in followed.answer:
        address = _next(request, followed)
        return HttpResponseClientRedirect(address) if is_fragment else redirect(address)
    part = "_trial" if is_fragment else "trial"
    return render(request, f"sources/{part}.html", context)


def go_on(request: PersonRequest, ended: Trial) -> HttpResponse | None:
    """Return the page that follows a trial, None if it is under way; raise its error."""
    if ended.ended_at is None:
        return None
    if ended.error:
        raise TapestryError(ended.error, hint=ended.hint or None)
    return redirect(_next(request, ended))


def _next(request: PersonRequest, ended: Trial) -> str:
    if "said" in ended.answer:
        messages.success(request, ended.answer["said"])
    named = f"?trial={ended.pk}" if ended.answer.keys() & {"offers", "server"} else ""
    return f"{ended.answer['url']}{named}"
