"""The stage of signing in between the password and the second factor: nobody is signed in yet."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth import REDIRECT_FIELD_NAME, login
from django.http import HttpRequest
from django.urls import reverse
from django.utils.crypto import constant_time_compare

from filters.people.models import User
from filters.people.signing_in.backend import name_digest
from filters.people.signing_in.outcome import Proven, note
from tapestry.core.clock import MINUTE, wall_clock

STAGE = "second_factor_stage"
"""Where a session keeps whose password was given, when, and a hash of what it was then."""

PATIENCE = 10 * MINUTE
"""How long after the password the second factor is waited for."""


def begin(request: HttpRequest, user: User) -> None:
    """Keep in the session that the password of somebody was right."""
    request.session.cycle_key()
    request.session[STAGE] = [user.pk, wall_clock(), user.get_session_auth_hash()]


def pending_user(request: HttpRequest) -> User | None:
    """Return who has given the password in this browser, and not the second factor yet."""
    key, at, proof = request.session.get(STAGE, (None, 0, ""))
    user = User.objects.filter(pk=key, is_active=True).first() if key is not None else None
    is_same = user is not None and constant_time_compare(proof, user.get_session_auth_hash())
    return user if is_same and 0 <= wall_clock() - at < PATIENCE else None


def complete(request: HttpRequest, user: User) -> None:
    """Sign in who has given both; the browser is known from now on."""
    del request.session[STAGE]
    login(request, user)
    note(request, Proven(name_digest(user.get_username())))


def code_page(back: str) -> str:
    """Return the address of the page that asks for the code, and leads back."""
    address = reverse("sign-in-code")
    return f"{address}?{urlencode({REDIRECT_FIELD_NAME: back})}" if back else address
