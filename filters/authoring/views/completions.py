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
    """Show completions at the cursor of a text; the first is chosen inside an unfinished word.

    After a complete phrase, with no word begun, they are shown only on request (``all``).
    """
    text, at = request.GET.get("text", ""), request.GET.get("at", "")
    place = int(at) if re.fullmatch("[0-9]{1,6}", at) else len(text)
    before = text[:place]
    offered = complete(text, place, vocabulary(request.user, before))
    in_word = bool(offered) and offered[0].start < len(before)
    is_phrase = bool(offered) and is_whole(before)
    if is_phrase and not in_word and "all" not in request.GET:
        offered = ()
    context = {"completions": offered, "chosen": in_word and not is_phrase}
    return render(request, "filters/authoring/_completions.html", context)
