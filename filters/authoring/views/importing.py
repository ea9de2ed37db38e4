"""Filters from a file, ticked and created, and all filters to a file.

The worker reads and creates; the page asks how far it is.
"""

from __future__ import annotations

import re
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from filters.authoring.importing.entries import MOST_ENTRIES, UnreadableFileError
from filters.authoring.importing.files import LARGEST_OWN, check_file
from filters.authoring.importing.imports import CREATIONS, READINGS
from filters.authoring.importing.own_file import read_options, write_filters
from filters.authoring.models import Filter
from filters.authoring.tasks import start_creation, start_reading
from filters.authoring.views.waiting import PATIENCE, TOO_LONG, turn_of
from filters.people.requests import PersonRequest, wants_fragment
from filters.site.work.queues.answers import Answer, Answers

FORM, OFFERS = "authoring/import.html", "authoring/import_offers.html"

GONE = (
    "This is no longer here, or you have begun another import since. "
    "What was created is among your filters; choose the file again to go on."
)


@require_http_methods(["GET", "HEAD", "POST"])
def choose(request: PersonRequest) -> HttpResponse:
    """Take a file, or the text of one, and have the worker read it."""
    if request.method != "POST":
        return render(request, FORM)
    file = request.FILES.get("file")
    pasted = request.POST.get("pasted", "")
    raw = file.read(LARGEST_OWN + 1) if file else pasted.encode()
    try:
        check_file(raw)
    except UnreadableFileError as error:
        return render(request, FORM, {"refusal": error.message, "pasted": pasted}, status=400)
    task = start_reading(raw, request.user.pk, is_pasted=not file)
    return redirect("import-read", task)


@require_safe
def read(request: PersonRequest, task: UUID) -> HttpResponse:
    """Show which filters a file has, clause by clause, once it has been read."""
    return _awaited(request, READINGS, task)


@require_POST
def create(request: PersonRequest) -> HttpResponse:
    """Have the worker create the filters that are ticked."""
    numbers = request.POST.getlist("create")[:MOST_ENTRIES]
    chosen = [options for number in numbers if (options := _options(request, number)) is not None]
    rest = request.POST.get("rest", "")
    if not chosen and not rest:
        messages.warning(request, "Nothing was ticked, so nothing was created.")
        return redirect("filters")
    return redirect("import-created", start_creation(chosen, rest, request.user.pk))


@require_safe
def created(request: PersonRequest, task: UUID) -> HttpResponse:
    """Say how many filters were created, and show the next ones of the file."""
    return _awaited(request, CREATIONS, task)


@require_safe
def export(request: PersonRequest) -> HttpResponse:
    """Give all filters of the person as one text file."""
    filters = Filter.objects.filter(owner=request.user).order_by("name")
    text = write_filters(filters, request.user.zone)
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    name = f"tapestry-filters-{timezone.localdate():%F}.toml"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _awaited(request: PersonRequest, answers: Answers, task: UUID) -> HttpResponse:
    """Show what the worker has answered, or ask again a little later."""
    key, user, turn = str(task), request.user, turn_of(request)
    answer = answers.of_task(key, user.pk)
    if answer is None:
        gone = "" if answers.is_newest(key, user.pk) else GONE
        error = gone or (TOO_LONG if turn >= PATIENCE else "")
        context = {"error": error, "is_waiting": not error, "turn": turn + 1}
        return render(request, OFFERS, context)
    if "refusal" in answer:
        return render(request, FORM, answer)
    _say(request, answer)
    if "created" in answer and "offers" not in answer:
        if wants_fragment(request):
            return HttpResponseClientRedirect(reverse("filters"))
        return redirect("filters")
    return render(request, OFFERS, answer)


def _say(request: HttpRequest, answer: Answer) -> None:
    """Say what was created, if anything was."""
    if answer.get("name"):
        done = f"“{answer['name']}” created. Its matches will appear here."
        messages.success(request, done)
    elif answer.get("created"):
        done = f"{answer['created']} filters created. Their matches will appear here."
        messages.success(request, done)


def _options(request: PersonRequest, number: str) -> dict[str, str] | None:
    """Return the options of a filter that a form sends, under the title given there."""
    if not re.fullmatch("[0-9]{1,4}", number):
        return None
    options = read_options(request.POST.get(f"entry-{number}", ""))
    if options is None:
        return None
    options["title"] = request.POST.get(f"title-{number}", options.get("title", "")).strip()
    return options
