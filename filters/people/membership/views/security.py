"""The page of security: what proves that it is you, and where you are signed in."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.delivery.ways import push
from filters.delivery.ways.browser_name import browser_name
from filters.people.factors import factors_of
from filters.people.membership.keys import key_of
from filters.people.requests import PersonRequest
from filters.people.second_factor import passkeys
from filters.people.sessions.record import browsers_of, sign_out
from filters.people.signing_in.this_browser import this_browser
from filters.site.work.crypto import opaque_keys

MOST_SHOWN = 50
"""Browsers on the page; those that were used last."""


@require_safe
def security(request: PersonRequest) -> HttpResponse:
    """Show the second factors of a person, and the browsers where they are signed in."""
    here = request.session.session_key
    context = {
        "are_notified": push.browsers_of(request.user).exists(),
        "is_notified_here": push.is_notified(request.user, this_browser(request)),
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
    return render(request, "people/security.html", context)


@require_POST
def sign_out_elsewhere(request: PersonRequest) -> HttpResponse:
    """Sign a person out in all browsers but this one; the others no longer notify them either.

    Notifications show senders and subjects, signed in or not, to whoever has found a phone.
    """
    sign_out(request.user, but=request.session.session_key)
    sentence = "You are signed out everywhere else."
    if push.forget_others(request.user, this_browser(request)):
        is_left = push.browsers_of(request.user).exists()
        sentence += f" Notifications are off in {'your other' if is_left else 'all your'} browsers."
    messages.success(request, sentence)
    return redirect("security")


@require_POST
def sign_out_browser(request: PersonRequest, key: str) -> HttpResponse:
    """Sign a person out in one browser."""
    pk = key_of(key)
    if not browsers_of(request.user).filter(pk=pk).exists():
        raise Http404("There is no such browser.")
    sign_out(request.user, key=pk)
    sentence = "That browser is signed out."
    if push.browsers_of(request.user).exists():
        sentence += " If it still notifies you, remove it on the page Notifications."
    messages.success(request, sentence)
    return redirect("security")
