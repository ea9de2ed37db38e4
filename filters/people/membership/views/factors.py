"""Add and remove second factors; each page is for who has confirmed lately that it is they."""

from __future__ import annotations

import segno
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.debug import sensitive_post_parameters

from filters.people.factors import drop_lone_codes, has_second_factor
from filters.people.membership.forms import AppForm, PasskeyForm
from filters.people.membership.keys import key_of
from filters.people.membership.notices import tell
from filters.people.models import AuthenticatorApp, Passkey, User
from filters.people.requests import PersonRequest, form_methods, form_page
from filters.people.second_factor import passkeys, recovery, totp
from filters.people.second_factor.views import confirmed
from filters.site.work.crypto.encryption import decrypt, encrypt
from filters.site.work.parts import services

NEW_SECRET = "new_app_secret"
"""Where a session keeps the secret of an app that is being set up, encrypted."""


@form_methods
@confirmed
@sensitive_post_parameters()
def add_app(request: PersonRequest) -> HttpResponse:
    """Show the secret of a new app as a QR code, and store it once a code of it was typed."""
    secret = _new_secret(request)
    form = AppForm(secret, request.POST if request.method == "POST" else None)
    if form.is_valid():
        with transaction.atomic():
            is_first = not has_second_factor(request.user)
            totp.store(request.user, secret, form.step)
        del request.session[NEW_SECRET]
        tell(request.user, "An authenticator app was set up.")
        messages.success(request, "Your app is set up: signing in asks for its code from now on.")
        return _codes(request) if is_first else redirect("security")
    uri = totp.address(secret, request.user.get_username(), request.get_host())
    context = {
        "qr": mark_safe(segno.make(uri, error="m").svg_inline(scale=4, light="#fff")),
        "secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
    }
    return form_page(request, "people/app.html", form, **context)


@form_methods
@confirmed
def remove_app(request: PersonRequest) -> HttpResponse:
    """Ask whether the app is to be removed, and remove it."""
    app = get_object_or_404(AuthenticatorApp, owner=request.user)
    if request.method == "POST":
        app.delete()
        drop_lone_codes(request.user)
        tell(request.user, "The authenticator app was removed.")
        messages.success(request, "Your app is removed.")
        return redirect("security")
    return _question(request, "Remove your authenticator app?", "Remove the app")


@form_methods
@confirmed
def add_passkey(request: PersonRequest) -> HttpResponse:
    """Have the browser make a passkey, and store it."""
    possible = passkeys.are_possible(request)
    full = request.user.passkeys.count() >= passkeys.MOST
    form = PasskeyForm(request.POST if request.method == "POST" else None)
    if possible and not full and form.is_valid():
        given = form.cleaned_data
        is_first = not has_second_factor(request.user)
        if passkeys.add(request, request.user, given["name"], given["passkey"]):
            tell(request.user, f"The passkey “{given['name']}” was added.")
            messages.success(request, "Your passkey is saved: you can sign in with it.")
            return _codes(request) if is_first else redirect("security")
        form.add_error(None, "That passkey could not be saved. Please try again.")
    context = {
        "form": form,
        "possible": possible,
        "full": full,
        "most": passkeys.MOST,
        "options": passkeys.creation_options(request, request.user) if possible else "",
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "people/passkey.html", context, status=status)


@form_methods
@confirmed
def remove_passkey(request: PersonRequest, key: str) -> HttpResponse:
    """Ask whether a passkey is to be removed, and remove it."""
    passkey = get_object_or_404(Passkey, owner=request.user, pk=key_of(key))
    if request.method == "POST":
        passkey.delete()
        drop_lone_codes(request.user)
        tell(request.user, f"The passkey “{passkey.name}” was removed.")
        messages.success(request, f"The passkey “{passkey.name}” is removed.")
        return redirect("security")
    return _question(request, f"Remove the passkey “{passkey.name}”?", "Remove the passkey")


@form_methods
@confirmed
def new_codes(request: PersonRequest) -> HttpResponse:
    """Make new recovery codes, and show them this once."""
    if not has_second_factor(request.user):
        return redirect("security")
    if request.method == "POST":
        tell(request.user, "New recovery codes were made; the old ones stopped working.")
        return _codes(request)
    context = {
        "title": "Make new recovery codes?",
        "text": "The codes that you have now stop working.",
        "button": "Make new codes",
        "plain": True,
    }
    return render(request, "people/question.html", context)


def _codes(request: PersonRequest) -> HttpResponse:
    context = {"codes": recovery.make(request.user)}
    return render(request, "people/codes.html", context)


def _question(request: PersonRequest, title: str, button: str) -> HttpResponse:
    context = {"title": title, "text": _after_removal(request.user), "button": button}
    return render(request, "people/question.html", context)


def _after_removal(user: User) -> str:
    """Say what signing in asks for once one factor is gone."""
    others = user.passkeys.count() + AuthenticatorApp.objects.filter(owner=user).count() - 1
    if others:
        return "Signing in goes on asking for one of the others."
    return "Signing in will ask for your password alone, and your recovery codes stop working."


def _new_secret(request: PersonRequest) -> str:
    """Return the secret that is being set up in this session; the page may be loaded again."""
    if stored := request.session.get(NEW_SECRET):
        return decrypt(stored, services.data())
    secret = totp.new_secret()
    request.session[NEW_SECRET] = encrypt(secret, services.data())
    return secret
