"""The search page: all that matches a text, the open message beside it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from filters.authoring.models import Filter
from filters.authoring.views.editor import EXAMPLES, cursor_of
from filters.authoring.views.waiting import PATIENCE, TOO_LONG, turn_of
from filters.authoring.vocabulary import vocabulary
from filters.inbox.opened import filter_named, open_message
from filters.inbox.search import recent
from filters.inbox.search.highlights import highlights
from filters.inbox.search.lines import lines
from filters.inbox.search.reading import (
    SearchReading,
    as_filter,
    meant_names,
    misreading_of,
    other_meanings,
    read_search,
)
from filters.inbox.search.searches import SEARCHES, Found, found_of, question
from filters.inbox.search.selecting import select_found
from filters.inbox.tasks import start_search
from filters.inbox.triage.views.answers import refused, selected
from filters.people import people
from filters.people.requests import PersonRequest, wants_fragment
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.query.phrases.help.completion import MOST, complete
from tapestry.query.phrases.help.phrasebook import phrasebook

PAGE = 50

FRESH = 10 * SECOND
"""For how long what was found is not looked for anew though it is asked again."""

RECENT = 3
"""Searches asked before that are offered beside phrases."""


@require_safe
def search(request: PersonRequest) -> HttpResponse:
    """Show what matches the text ``q`` now, or have the worker look; ``in`` names a filter.

    What was found is kept for some minutes, for who turns its pages.  Asked again after ``FRESH``,
    it is shown until it has been looked for anew; ``again`` forgets it.  The message that ``open``
    names is shown beside it.  A text that is no filter is a 400, with what could be meant.  htmx
    gets the results alone.
    """
    text, within = _asked(request)
    context: dict[str, Any] = {"search_text": text, "within": within, "filter": within}
    context |= {"searched": text, "here": _here(text, within)}
    if not text.strip():
        context |= {"examples": EXAMPLES, "phrasebook": phrasebook()}
        context["recent"] = recent.recent(request.session)
        return render(request, "inbox/search/search.html", context)
    read = read_search(text, request.user)
    if read.understood is None and read.error is not None:
        context |= {"misreading": misreading_of(text, read.error, request.user)}
        return render(request, "inbox/search/search.html", context, status=400)
    asked = question(read.asked, within)
    if "again" in request.GET:
        SEARCHES.forget(asked, request.user.pk)
        return redirect(_here(text, within))
    context |= {"read": read, "others": other_meanings(text, read, request.user)}
    context |= {"kept_as": as_filter(read, within, request.user)}
    found = found_of(SEARCHES.of_question(asked, request.user.pk), request.user)
    is_asked = not wants_fragment(request) and not {"page", "open"} & request.GET.keys()
    if is_asked:
        recent.remember(request.session, text)
    if found is None or (is_asked and wall_clock() - found.at > FRESH):
        task = start_search(read.asked, request.user.pk, within)
        context |= {"task": task, "turn": 1, "query": _query(text, within, _page(request))}
    if found is not None:
        context |= _results(request, text, within, read, found)
    if wants_fragment(request):
        return render(request, "inbox/search/_results.html", context)
    beside, status = open_message(request)
    return render(request, "inbox/search/search.html", context | beside, status=status)


@require_safe
def result(request: PersonRequest, task: UUID) -> HttpResponse:
    """Show what a search has found, or ask again a little later."""
    text, within = _asked(request)
    turn = turn_of(request)
    read = read_search(text, request.user)
    answer = SEARCHES.of_task(str(task), request.user.pk)
    context: dict[str, Any] = {"search_text": text, "within": within, "read": read}
    found = found_of(answer, request.user)
    if found is not None and read.understood is not None:
        context |= _results(request, text, within, read, found)
    elif answer is not None:
        context["error"] = answer.get("error", "Your groups have changed since.")
    elif not SEARCHES.is_newest(str(task), request.user.pk):
        context["error"] = "You have started another search since."
    elif turn >= PATIENCE:
        context["error"] = TOO_LONG
    context |= {"task": task, "turn": turn + 1, "query": _query(text, within, _page(request))}
    context |= {"here": _here(text, within), "polled": True}
    if "again" not in request.GET:
        return render(request, "inbox/search/_results.html", context)
    if "found" not in context:  # the older results stay
        return render(request, "inbox/search/_again.html", context)
    response = render(request, "inbox/search/_results.html", context)
    response["HX-Retarget"] = "#list"
    return response


@require_safe
def completions(request: PersonRequest) -> HttpResponse:
    """Show what may stand at the cursor of the box: searches asked before, then phrases."""
    text, place = cursor_of(request)
    before = recent.alike(request.session, text, RECENT if text.strip() else recent.MOST)
    offered = complete(text, place, vocabulary(request.user, text[:place])) if text.strip() else ()
    context = {"recent": before, "completions": offered[: MOST - len(before)]}
    return render(request, "inbox/search/_offered.html", context)


@require_POST
def forget(request: PersonRequest) -> HttpResponse:
    """Forget what this person has searched for of late."""
    recent.forget(request.session)
    messages.success(request, "Your recent searches are forgotten.")
    return redirect("search")


@require_POST
def select(request: PersonRequest) -> HttpResponse:
    """Select all results of a search, for actions that follow; in words if that is not possible."""
    text, within = _asked(request)
    if not text.strip():
        raise Http404("There is no such search.")
    asked = question(read_search(text, request.user).asked, within)
    found = found_of(SEARCHES.of_question(asked, request.user.pk), request.user)
    try:
        if found is None:
            raise TapestryError("These results are no longer here.", hint="Search again.")
        selection = select_found(request.user, found)
    except TapestryError as error:
        return refused(request, error.sentences)
    return selected(request, selection, _here(text, within), {"searched": text, "within": within})


def _asked(request: PersonRequest) -> tuple[str, Filter | None]:
    """Return the text and the filter of a search; 404 if that is none of the reader's."""
    given = request.GET if request.method in ("GET", "HEAD") else request.POST
    return given.get("q", ""), filter_named(request.user, given.get("in"))


def _results(
    request: PersonRequest, text: str, within: Filter | None, read: SearchReading, found: Found
) -> dict[str, Any]:
    """Return what the page shows of the results."""
    page = Paginator(found.msgids, PAGE).get_page(_page(request))
    marked = highlights(read.words, people.context(request.user))
    return {
        "names": () if found.msgids else meant_names(read, request.user),
        "found": found,
        "here": _here(text, within),
        "at": f"{reverse('search')}?{_query(text, within, str(page.number))}",
        "page": page,
        "lines": lines(request.user, list(page), marked),
    }


def _page(request: PersonRequest) -> str:
    return request.GET.get("page", "1")


def _query(text: str, within: Filter | None, page: str = "1") -> str:
    asked = {"q": text} | ({} if within is None else {"in": within.name})
    return urlencode(asked if page == "1" else asked | {"page": page})


def _here(text: str, within: Filter | None) -> str:
    return f"{reverse('search')}?{_query(text, within)}"
