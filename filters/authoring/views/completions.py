"""Completing a filter as one types."""

from __future__ import annotations

import re

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from filters.accounts.requests import PersonRequest
from filters.authoring.vocabulary import vocabulary
from tapestry.query.phrases.completion import complete, is_whole


@require_GET
def completions(request: PersonRequest) -> HttpResponse:
    """Show what could stand at the cursor of a text, the first chosen if a word wants an end.

    Where a phrase is whole and no word begun, only who asks for all is shown how it may go on.
    """
    text, at = request.GET.get("text", ""), request.GET.get("at", "")
    place = int(at) if re.fullmatch("[0-9]{1,6}", at) else len(text)
    before = text[:place]
    found = complete(text, place, vocabulary(request.user, before))
    begun = bool(found) and found[0].start < len(before)
    is_phrase = bool(found) and is_whole(before)
    if is_phrase and not begun and "all" not in request.GET:
        found = ()
    context = {"completions": found, "chosen": begun and not is_phrase}
    return render(request, "filters/authoring/_completions.html", context)
