"""The pages of a person's tokens, and of all that is connected to them."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe

from filters.api.api import DESCRIPTION, described
from filters.api.authentication import make_token
from filters.api.connections import connections_of
from filters.api.forms import TokenForm
from filters.api.models import AccessToken
from filters.api.problems import NO_CALL, problem
from filters.api.reference import paragraphs_of, reference
from filters.people.membership.keys import key_of
from filters.people.membership.notices import tell
from filters.people.requests import PersonRequest, form_methods, form_page, local_path
from filters.people.second_factor.views import confirmed
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError

SHOWN = 200
"""Uses of a token on its page, the latest."""


@sensitive_variables("secret")
@confirmed
@form_methods
def tokens(request: PersonRequest) -> HttpResponse:
    """List the tokens of a person; make one, and show it this once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    made, secret = None, ""
    if form.is_valid():
        try:
            made, secret = make_token(request.user, **form.cleaned_data)
            form = TokenForm()
            tell(request.user, f"The access token “{made.name}” was made, for a program.")
        except TapestryError as error:
            form.add_error(None, error.sentences)
    context = {
        "tokens": request.user.access_tokens.all(),
        "made": made,
        "secret": secret,
        "now": wall_clock(),
        "imap": settings.IMAP,
        "address": request.build_absolute_uri("/api/v1/"),
    }
    return form_page(request, "api/tokens.html", form, **context)


@require_safe
def connections(request: PersonRequest) -> HttpResponse:
    """Show what is connected to a person, since when, and what it may; each can be ended."""
    context = {"groups": connections_of(request.user)}
    return render(request, "api/connections.html", context)


@require_safe
def calls(request: PersonRequest) -> HttpResponse:
    """Show what there is to call, and what each call takes and answers."""
    context = {"paragraphs": paragraphs_of(DESCRIPTION), "parts": reference()}
    return render(request, "api/reference.html", context)


@login_not_required
@require_safe
def description(request: HttpRequest) -> HttpResponse:
    """Describe the calls of the API: its OpenAPI document."""
    return JsonResponse(described())


@csrf_exempt
@login_not_required
def no_call(request: HttpRequest, name: str) -> HttpResponse:
    """Say to a program that there is no such call."""
    return problem(404, NO_CALL)


@require_safe
def uses(request: PersonRequest, key: str) -> HttpResponse:
    """Show what a program did by a token: its calls, and about what; the last first."""
    token = get_object_or_404(AccessToken, owner=request.user, pk=key_of(key))
    return render(request, "api/uses.html", {"token": token, "uses": token.uses.all()[:SHOWN]})


@require_POST
def delete(request: PersonRequest, key: str) -> HttpResponse:
    """Delete a token: from now on it opens nothing."""
    token = get_object_or_404(AccessToken, owner=request.user, pk=key_of(key))
    token.delete()
    messages.success(request, f"“{token.name}” opens nothing any more.")
    return redirect(local_path(request.POST.get("next", ""), "tokens"))
