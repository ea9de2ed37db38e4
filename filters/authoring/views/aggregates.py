"""The page of the aggregates that one defines in SQL: written, tried on real messages, saved."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from filters.authoring.models import Filter
from filters.authoring.own_aggregates import delete, save, shared_with
from filters.authoring.results.aggregate_values import MARKS, values_of
from filters.authoring.usage import usage_of
from filters.people.models import User
from filters.people.requests import PersonRequest, form_methods
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon
from tapestry.core.errors import TapestryError
from tapestry.query.tql.parser import parse_definition
from tapestry.query.tree.definitions import only_grows

EXAMPLE = """\
CREATE AGGREGATE decayed(x NUMBER) RETURNS NUMBER
  STATE (s NUMBER)
  INITIALIZE (x)
  ITERATE (s * 0.9 + x)
  TERMINATE s"""

MOST_SHOWN = 200
"""Aggregates of others that the page shows."""


@form_methods
def aggregates(request: PersonRequest) -> HttpResponse:
    """Show a person's aggregates, and those that others share; try one, save it, or delete it.

    ``name`` is that of the one that is being changed.
    """
    given = request.POST
    if given.get("act") == "delete":
        return _delete(request)
    context: dict[str, Any] = {"name": (given or request.GET).get("name", "")}
    if request.method == "POST":
        text = given.get("text", "").replace("\r\n", "\n")
        context |= {"text": text, "of": given.get("of", ""), "visibility": given.get("visibility")}
        try:
            if given.get("act") == "save":
                return _save(request, text)
            context |= _tried(request.user, text, given.get("of", ""))
        except TapestryError as error:
            context["refusal"] = error
    elif context["name"]:
        changed = get_object_or_404(request.user.aggregates, name=context["name"])
        context |= {"text": changed.text, "visibility": changed.visibility}
    return _page(request, context)


def _save(request: PersonRequest, text: str) -> HttpResponse:
    visibility = request.POST.get("visibility", "")
    if visibility not in Filter.Visibility.values:
        visibility = ""
    replaces = request.POST.get("name", "")
    saved = save(request.user, text, visibility=visibility, replaces=replaces)
    run_soon(UNPROVEN_WINDOWS)
    messages.success(request, f"{saved.name} is saved. Your filters can use it by its name.")
    return redirect("aggregates")


def _delete(request: PersonRequest) -> HttpResponse:
    """Delete an aggregate, and leave its text in the form, to be saved again."""
    doomed = get_object_or_404(request.user.aggregates, name=request.POST.get("name", ""))
    delete(doomed)
    messages.success(request, f"{doomed.name} is deleted. Save its text below to have it again.")
    return _page(request, {"text": doomed.text, "visibility": doomed.visibility})


def _tried(user: User, text: str, of: str) -> dict[str, Any]:
    """Return what the page shows of a text that is tried: its values, and how it is used."""
    name, definition = parse_definition(text)
    of, values = values_of(user, text, of)
    use = f"{name}({of}) > {MARKS[definition.returns]}" if name else ""
    return {"of": of, "values": values, "use": use, "grows": only_grows(definition.text)}


def _page(request: PersonRequest, shown: dict[str, Any]) -> HttpResponse:
    own = [(of, usage_of(of)) for of in request.user.aggregates.all()]
    shared = shared_with(request.user)[:MOST_SHOWN]
    context = {"text": EXAMPLE, "visibility": "", **shown, "own": own, "shared": shared}
    status = 400 if "refusal" in shown else 200
    return render(request, "authoring/aggregates.html", context, status=status)
