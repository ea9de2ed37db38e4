"""Feeds: the documents, whose secret addresses are the permission, and the page of a person's."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from django.views.decorators.http import require_POST, require_safe

from filters.delivery import due_dates
from filters.delivery.changes import make_feed, move_feed
from filters.delivery.feeds import PERSON, document_of, key_of, position_of, rows_of, state_of
from filters.delivery.models import Feed
from filters.people.requests import PersonRequest, local_path
from filters.site.work import set_aside
from filters.site.work.crypto.opaque_keys import keyed_digest
from tapestry.core.surroundings import is_unforeseen
from tapestry.deliver.batch import LaterError
from tapestry.deliver.ways import due_dates as due_dates_way
from tapestry.deliver.ways.feed import CONTENT_TYPE

CACHED = "private, max-age=60"


@login_not_required
@require_safe
def feed(request: HttpRequest, token: str) -> HttpResponse:
    """Answer with a page of a feed, an Atom document, or 304 if the reader has it already."""
    shown = get_object_or_404(
        Feed.objects.select_related("owner", "filter"), token=token, owner__is_active=True
    )
    try:
        before = position_of(request.GET.get("before", ""))
    except ValueError:
        raise Http404("There is no such page.") from None
    try:
        return _answer(request, shown, before)
    except LaterError:
        return _later("What it found last is being made ready. Try again in a moment.", 5)
    except Exception as error:
        if not is_unforeseen(error):
            raise
        return _later(set_aside.record(PERSON, key_of(shown), error).reason, 300)


@login_not_required
@require_safe
def calendar(request: HttpRequest, token: str) -> HttpResponse:
    """Answer with the due dates of a feed, an iCalendar document, or 304 if they are the same."""
    shown = get_object_or_404(
        Feed.objects.select_related("owner", "filter"), token=token, owner__is_active=True
    )
    document = due_dates.document_of(shown)
    etag = f'"{keyed_digest("calendar", document.decode())[:32]}"'
    response = get_conditional_response(request, etag)
    if response is None:
        response = HttpResponse(document, content_type=due_dates_way.CONTENT_TYPE)
    response.headers["ETag"] = etag
    return _private(response)


def _private(response: HttpResponse) -> HttpResponse:
    response.headers["Cache-Control"] = CACHED
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _later(reason: str, seconds: int) -> HttpResponse:
    headers = {"Retry-After": f"{seconds}", "Cache-Control": "no-store"}
    return HttpResponse(reason, status=503, content_type="text/plain", headers=headers)


def _answer(request: HttpRequest, shown: Feed, before: int | None) -> HttpResponse:
    state, left_out = state_of(shown, before), 0
    response = get_conditional_response(request, state.etag, state.last_modified)
    if response is None:
        document, left_out = document_of(shown, state, before)
        response = HttpResponse(document, content_type=CONTENT_TYPE)
        set_aside.clear(PERSON, [key_of(shown)])
    if not left_out:  # else a reader would keep the document that lacks something
        response.headers["ETag"] = state.etag
    _private(response)
    if state.last_modified is not None and not left_out:
        response.headers["Last-Modified"] = http_date(state.last_modified)
    return response


@require_safe
def feeds(request: PersonRequest) -> HttpResponse:
    """Show the feeds of a person, and the filters that have none yet."""
    return render(request, "delivery/feeds.html", {"rows": rows_of(request.user)})


@require_POST
def make(request: PersonRequest) -> HttpResponse:
    """Make the feed of a filter, or that of all filters where none is named."""
    make_feed(request.user, request.POST.get("filter", ""))
    return _back(request)


@require_POST
def change(request: PersonRequest, pk: int) -> HttpResponse:
    """Give a feed another address; nothing is at the old one from now on."""
    move_feed(_own(request, pk))
    return _back(request)


@require_POST
def remove(request: PersonRequest, pk: int) -> HttpResponse:
    """Remove a feed; nothing is at its address from now on."""
    _own(request, pk).delete()
    return _back(request)


def _own(request: PersonRequest, pk: int) -> Feed:
    return get_object_or_404(Feed, owner=request.user, pk=pk)


def _back(request: PersonRequest) -> HttpResponse:
    """Go back to the page of this site that the form was on, by default that of feeds."""
    return redirect(local_path(request.POST.get("next", ""), "feeds"))
