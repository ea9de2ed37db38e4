"""The page of security: what proves that it is you, and where you are signed in."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.accounts.factors import factors_of
from filters.accounts.requests import PersonRequest
from filters.accounts.second_factor import passkeys
from filters.accounts.sessions.record import browsers_of, sign_out
from filters.delivery.ways.browser_name import browser_name
from filters.membership.keys import key_of
from filters.runtime import opaque_keys

MOST_SHOWN = 50
"""Browsers on the page; those that were used last."""


@require_safe
def security(request: PersonRequest) -> HttpResponse:
    """Show the second factors of a person, and the browsers where they are signed in."""
    here = request.session.session_key
    context = {
        "factors": factors_of(request.user),
        "app": getattr(request.user, "authenticator_app", None),
        "passkeys": [
            {"row": row, "key": opaque_keys.encrypt(row.pk)} for row in request.user.passkeys.all()
        ],
        "passkeys_possible": passkeys.are_possible(request),
        "browsers": [
            {
                "row": row,
                "key": opaque_keys.encrypt(row.pk),
                "name": browser_name(row.user_agent),
                "here": row.session_key == here,
            }
            for row in browsers_of(request.user)[:MOST_SHOWN]
        ],
    }
    return render(request, "filters/membership/security.html", context)


@require_POST
def sign_out_elsewhere(request: PersonRequest) -> HttpResponse:
    """Sign a person out in all browsers but this one."""
    sign_out(request.user, but=request.session.session_key)
    messages.success(request, "You are signed out everywhere else.")
    return redirect("security")


@require_POST
def sign_out_browser(request: PersonRequest, key: str) -> HttpResponse:
    """Sign a person out in one browser."""
    pk = key_of(key)
    if not browsers_of(request.user).filter(pk=pk).exists():
        raise Http404("There is no such browser.")
    sign_out(request.user, key=pk)
    messages.success(request, "That browser is signed out.")
    return redirect("security")
