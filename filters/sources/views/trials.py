"""A trial on its page: the page asks how it stands until it has ended."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from filters.people.requests import PersonRequest, wants_fragment
from filters.sources.accounts import trials
from filters.sources.models import Trial
from tapestry.core.errors import TapestryError


@require_safe
def trial(request: PersonRequest, pk: int) -> HttpResponse:
    """Show how a trial stands; once it has gone well, go on with the page that follows.

    Without JavaScript it is a page, and its link asks again.
    """
    followed = trials.followed(request.user, pk)
    if followed is None:
        raise Http404("There is no such trial.")
    is_fragment, context = wants_fragment(request), {"trial": followed}
    if followed.ended_at is not None and not followed.error and "url" in followed.answer:
        address = _next(request, followed)
        return HttpResponseClientRedirect(address) if is_fragment else redirect(address)
    part = "_trial" if is_fragment else "trial"
    return render(request, f"sources/{part}.html", context)


def tried(
    request: PersonRequest, form: forms.Form, asked: trials.Asked
) -> tuple[HttpResponse | None, Trial | None]:
    """Have the worker try what a form says, which tells what is wrong with it.

    Return the page that follows; until then None, and the trial.
    """
    try:
        trial = trials.begin(request.user, *asked)
        if trial.ended_at is None:
            return None, trial
        if trial.error:
            raise TapestryError(trial.error, hint=trial.hint or None)
        return redirect(_next(request, trial)), None
    except TapestryError as error:
        form.add_error(None, error.sentences)
        return None, None


def _next(request: PersonRequest, ended: Trial) -> str:
    if "said" in ended.answer:
        messages.success(request, ended.answer["said"])
    named = f"?trial={ended.pk}" if ended.answer.keys() & {"offers", "server"} else ""
    return f"{ended.answer['url']}{named}"
