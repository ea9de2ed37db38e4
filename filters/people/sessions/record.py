"""Record the browser of a session, and that it was seen; sign browsers out.

signed in, or a new key ─> a row ─ every five minutes of use ─> seen_at, address, browser
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from filters.people.models import BrowserSession, User
from filters.people.signing_in.client_address import client_address
from tapestry.core.clock import MINUTE, wall_clock

EVERY = 5 * MINUTE
"""How often a browser that is in use is recorded as seen."""

_SEEN = "seen"
"""Where a session keeps the key and the instant with which it was recorded."""

_SIGNED_OUT = "tapestry.signed_out"
"""Where it stands in the environment of a request that it signed out."""


def connect_signals() -> None:
    """Record the browser in which somebody signs in, and which request signs out."""
    user_logged_in.connect(_signed_in, dispatch_uid="browser of who signs in")
    user_logged_out.connect(_note_sign_out, dispatch_uid="request that signs out")


def has_signed_out(request: HttpRequest) -> bool:
    """Tell whether a request has ended its session."""
    return _SIGNED_OUT in request.META


def _signed_in(request: HttpRequest | None, user: User, **_: Any) -> None:
    if request is not None:
        record(request, user)


def _note_sign_out(request: HttpRequest | None, **_: Any) -> None:
    if request is not None:
        request.META[_SIGNED_OUT] = True


def record(request: HttpRequest, user: User) -> None:
    """Store that a person uses this browser now."""
    session, now = request.session, wall_clock()
    if session.session_key is None:
        session.create()
    key, (former, _) = session.session_key, session.get(_SEEN, ("", 0))
    if former and former != key:
        BrowserSession.objects.filter(session_key=former).delete()
    fields = {
        "owner": user,
        "address": client_address(request)[:45],
        "user_agent": request.headers.get("User-Agent", "")[:300],
        "seen_at": now,
    }
    BrowserSession.objects.update_or_create(
        session_key=key, defaults=fields, create_defaults={**fields, "created_at": now}
    )
    session[_SEEN] = [key, now]


def record_if_due(request: HttpRequest, user: User) -> None:
    """Record the browser of who is signed in, unless that was done lately."""
    if request.session.session_key:
        key, at = request.session.get(_SEEN, ("", 0))
        if key != request.session.session_key or not 0 <= wall_clock() - at < EVERY:
            record(request, user)


def browsers_of(user: User) -> QuerySet[BrowserSession]:
    """Return the browsers in which a person is signed in, the last one used first."""
    alive = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    mine = BrowserSession.objects.filter(owner=user, session_key__in=alive)
    return mine.order_by("-seen_at", "-pk")


def sign_out(user: User, *, but: str | None = None, key: int | None = None) -> int:
    """Sign a person out in all browsers, all but one session, or one; return in how many."""
    mine = BrowserSession.objects.filter(owner=user)
    mine = mine.exclude(session_key=but) if but is not None else mine
    mine = mine.filter(pk=key) if key is not None else mine
    keys = list(mine.values_list("session_key", flat=True))
    ended, _ = Session.objects.filter(session_key__in=keys).delete()
    mine.filter(session_key__in=keys).delete()
    return ended


def end_restored() -> None:
    """End all sessions of a backup that was restored: those ended since would be alive again."""
    Session.objects.all().delete()
    forget_ended()


def forget_ended() -> None:
    """Delete sessions that have expired, and the records of those that are gone."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    BrowserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
