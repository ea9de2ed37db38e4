"""All that a filter would have matched, and what it would have delivered, page by page."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from filters.authoring.acts import done_words
from filters.authoring.compilation.understanding import understand
from filters.authoring.results import previews
from filters.authoring.results.backtests import (
    BACKTESTS,
    MOST_DELIVERIES,
    WEEKS,
    backtest_question,
    shown_deliveries,
)
from filters.authoring.results.overlap import overlap_of
from filters.authoring.results.previews import PREVIEWS, question
from filters.authoring.results.weeks import chart_of
from filters.authoring.tasks import start_backtest, start_preview
from filters.authoring.views.waiting import wait_for
from filters.authoring.views.written import Written, written_in
from filters.people import people
from filters.people.requests import PersonRequest
from tapestry.core.errors import TapestryError

PAGE = 50

RESULTS, BACKTEST = "authoring/results.html", "authoring/backtest.html"


@require_safe
def all_results(request: PersonRequest) -> HttpResponse:
    """Show all that a text would have matched so far, or matches now, or have the worker look."""
    written = written_in(request, request.GET)
    text, live = written.text, written.live
    here = f"{reverse('preview-all')}?{written.query}"
    context: dict[str, Any] = {"written": written, "here": here}
    if error := _misread(request, written):
        return render(request, RESULTS, context | {"misread": error}, status=400)
    start = partial(start_preview, text, request.user.pk, written.mode)
    wait = wait_for(request, PREVIEWS, question(text, written.mode), start)
    context["wait"], answer = wait, wait.answer
    if answer is not None:
        page = Paginator(answer["rows"], PAGE).get_page(request.GET.get("page", "1"))
        context |= {
            "page": page,
            "answer": {
                "count": answer["count"],
                "live": live,
                "rows": previews.visible_rows(list(page), request.user),
                "chart": chart_of(answer["weeks"]),
                "overlap": overlap_of(request.user, answer["overlap"], text, answer["count"]),
            },
        }
    return render(request, RESULTS, context)


@require_safe
def backtest(request: PersonRequest) -> HttpResponse:
    """Show what a text would have delivered in the last ``weeks``, or have the worker look."""
    written = written_in(request, request.GET)
    text, mode = written.text, written.mode
    given = request.GET.get("weeks", "")
    weeks = next((number for number in WEEKS if str(number) == given), WEEKS[1])
    here = f"{reverse('backtest')}?{written.query}"
    context: dict[str, Any] = {"written": written, "weeks": weeks}
    context |= {
        "here": f"{here}&weeks={weeks}",
        "other_weeks": [(n, f"{here}&weeks={n}") for n in WEEKS],
    }
    if error := _misread(request, written):
        return render(request, BACKTEST, context | {"misread": error}, status=400)
    asked = backtest_question(text, mode=mode, weeks=weeks)
    start = partial(start_backtest, text, request.user.pk, mode=mode, weeks=weeks)
    wait = wait_for(request, BACKTESTS, asked, start)
    context["wait"], answer = wait, wait.answer
    if answer is not None:
        page = Paginator(answer["deliveries"], PAGE).get_page(request.GET.get("page", "1"))
        context |= {
            "answer": answer,
            "acted": _acted(written, answer["messages"]),
            "page": page,
            "deliveries": shown_deliveries(request.user, list(page)),
            "is_cut": answer["count"] > MOST_DELIVERIES,
        }
    return render(request, BACKTEST, context)


@require_POST
def dry_run(request: PersonRequest) -> HttpResponse:
    """Lead from the editor to what a filter would have done in the last month."""
    written = written_in(request, request.POST)
    return redirect(f"{reverse('backtest')}?{written.query}&weeks={WEEKS[0]}")


def _acted(written: Written, count: int) -> str:
    """Return what would have been done with so many messages; empty if nothing would."""
    if count == 1:
        return done_words(written.acts, "1 message")
    return done_words(written.acts, f"{intcomma(count)} messages", "them")


def _misread(request: PersonRequest, written: Written) -> str:
    """Return why a text is no filter, empty if it is one."""
    if not written.text.strip():
        return "Describe the messages you want: replies by Jones."
    try:
        understand(written.text, people.context(request.user, written.name or None))
    except TapestryError as error:
        return error.message
    return ""
