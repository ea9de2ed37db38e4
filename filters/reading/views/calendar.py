"""The page of one's calendar: whom one meets, and the file that says so."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from filters.people.requests import PersonRequest, form_methods
from filters.reading.address_book import MOST_SHOWN
from filters.reading.calendar import clear, meetings_of, replace
from filters.reading.tasks import append_soon
from tapestry.core.errors import TapestryError
from tapestry.mime.icalendar_file import LARGEST


@form_methods
def calendar(request: PersonRequest) -> HttpResponse:
    """Show the calendar of a person; or replace it by a file, or empty it."""
    refusal = ""
    if request.method == "POST":
        try:
            messages.success(request, _changed(request))
        except TapestryError as error:
            refusal = error.sentences
        else:
            append_soon()
            return redirect("calendar")
    meetings = meetings_of(request.user)
    context = {
        "meetings": meetings[:MOST_SHOWN],
        "more": max(0, len(meetings) - MOST_SHOWN),
        "count": len(meetings),
        "refusal": refusal,
    }
    return render(request, "reading/calendar.html", context, status=400 if refusal else 200)


def _changed(request: PersonRequest) -> str:
    """Replace or empty the calendar, as the form says; return what was done."""
    if request.POST.get("act") == "clear":
        clear(request.user)
        return "The calendar is empty."
    if not (file := request.FILES.get("file")):
        raise TapestryError("Choose a file first.")
    done = replace(request.user, file.read(LARGEST + 1))
    text = f"The calendar has {done.meetings:,} meetings and {done.cancelled:,} cancelled events."
    return f"{text} {done.unread:,} events could not be read." if done.unread else text
