"""The page of who agrees with one, and on what; there somebody is left out."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from filters.people.requests import PersonRequest, form_methods
from filters.reading.agreement import colleagues_of, leave_out
from tapestry.core.agreement import MIN_IN_COMMON, SHARE
from tapestry.core.errors import TapestryError

_DONE = {
    "leave-out": "“{}” is left out. Your filters mean the others from now on.",
    "count": "“{}” counts again, from now on.",
}


@form_methods
def agreement(request: PersonRequest) -> HttpResponse:
    """Show who agrees with a person; or leave somebody out, or count them again."""
    refusal = ""
    if request.method == "POST":
        act, name = request.POST.get("act", ""), request.POST.get("person", "")
        try:
            if act not in _DONE or not name:
                raise TapestryError("Choose somebody of the list.")
            leave_out(request.user, name, out=act == "leave-out")
        except TapestryError as error:
            refusal = error.sentences
        else:
            messages.success(request, _DONE[act].format(name))
            return redirect("agreement")
    context = {
        "colleagues": colleagues_of(request.user),
        "refusal": refusal,
        "percent": round(100 * SHARE),
        "least": MIN_IN_COMMON,
    }
    return render(request, "reading/agreement.html", context, status=400 if refusal else 200)
