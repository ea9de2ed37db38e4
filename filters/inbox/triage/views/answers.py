"""What is answered after something was done: to htmx a part of the page, else another page."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render

from filters.inbox.models import Selection, TriageStep
from filters.people.requests import PersonRequest, local_path, wants_fragment
from filters.site.work.toast import TOAST, Toast


def told(
    request: PersonRequest, words: str, step: TriageStep | None = None, *, hides: bool = False
) -> HttpResponse:
    """Say what was done, and offer to undo the step.

    The whole page is told, as what was pressed may have left it before the answer.
    """
    toast = Toast(words=words, step=str(step.pk) if step else "")
    if not wants_fragment(request):
        request.session[TOAST] = toast
        return redirect(next_address(request))
    response = render(request, "inbox/triage/_said.html", {"toast": toast})
    acted = {"hides": hides, "target": "body"}
    response["HX-Trigger-After-Swap"] = json.dumps({"acted": acted, "arrived": {}, "read": {}})
    return response


def refused(request: PersonRequest, words: str, status: int = 400) -> HttpResponse:
    """Say why something was not done, in the toast or on a page of its own."""
    if not wants_fragment(request):
        context = {"words": words, "here": next_address(request)}
        return render(request, "inbox/triage/refused.html", context, status=status)
    toast = {"toast": {"words": words}}
    response = render(request, "inbox/triage/_said.html", toast, status=422)
    response["HX-Retarget"], response["HX-Reswap"] = "#toast", "innerHTML"
    return response


def selected(
    request: PersonRequest, selection: Selection, here: str, of_list: dict[str, Any]
) -> HttpResponse:
    """Show that all messages of a list are selected; ``of_list`` is what its form names it by."""
    if not wants_fragment(request):
        return redirect(f"{here}{'&' if '?' in here else '?'}selection={selection.pk}")
    context = {"selection": selection, "here": here, **of_list}
    response = render(request, "inbox/triage/_bulk.html", context)
    response["HX-Trigger-After-Settle"] = json.dumps({"acted": {"hides": False}, "arrived": {}})
    return response


def next_address(request: PersonRequest) -> str:
    """Return where a form leads to: an address of this site, else its first page."""
    return local_path(request.POST.get("next", ""), "/")
