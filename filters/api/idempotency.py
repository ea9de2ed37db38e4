"""Calls that are made once, however often a program sends them (Idempotency-Key).

    call with a key ─ known ─> the answer that was kept
                    └─ new ──> row without an answer ─> the call ─> its answer is kept

A program that did not hear the answer sends the same call under the same key again.  A key is of
one token, and is kept for a day.  What failed by itself (5xx, 429) is not kept: it may be tried
again.  A call whose process ended before its answer was kept is not made again: nobody knows
whether it was carried out, and the program is told so.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from filters.api.authentication import count_call, token_of
from filters.api.models import AccessToken, KeptAnswer
from filters.api.problems import problem, too_often
from filters.site.work.crypto.encryption import decrypt, encrypt
from filters.site.work.parts import services
from filters.site.work.rate_limits import TooManyTriesError
from tapestry.core.clock import DAY, MINUTE, wall_clock

Call = Callable[..., HttpResponse]

KEPT = DAY
"""For how long an answer is kept."""

LOST = 5 * MINUTE
"""After how long the process of a call that was never answered counts as ended."""

LONGEST = 255
"""Characters of a key."""

OTHERWISE = "This Idempotency-Key was given with another call: give each call a key of its own."
UNDER_WAY = "The call with this Idempotency-Key is being answered. Ask again in a moment."
UNKNOWN = (
    "It is not known whether the call with this Idempotency-Key was carried out, for its process "
    "has ended. Look whether it was; if not, call again with another key."
)
TOO_LONG = f"An Idempotency-Key has at most {LONGEST} characters."


def once(call: Call, request: HttpRequest, **named: Any) -> HttpResponse:
    """Answer a call; one with a key that was answered before is answered the same again."""
    key, token = request.headers.get("Idempotency-Key"), _token(request)
    if not key or token is None or request.method in ("GET", "HEAD"):
        return call(request, **named)
    if len(key) > LONGEST:
        return problem(422, TOO_LONG)
    name, fingerprint = _digest(key.encode()), _fingerprint(request)
    row = _begun(token, name, fingerprint)
    if row is None:
        return _again(token, name, fingerprint)
    is_kept = False
    try:
        response = call(request, **named)
        is_kept = response.status_code < 500 and response.status_code != 429
        if is_kept:
            KeptAnswer.objects.filter(pk=row.pk).update(
                status=response.status_code,
                content_type=response.headers.get("Content-Type", ""),
                content=encrypt(response.content.decode(), services.data()),
            )
    finally:
        if not is_kept:
            KeptAnswer.objects.filter(pk=row.pk).delete()
    return response


def _begun(token: AccessToken, name: str, call: str) -> KeptAnswer | None:
    """Store that a call is being answered; return None if there is one of this key."""
    forget_old(KeptAnswer.objects.filter(token=token))
    try:
        with transaction.atomic():
            return KeptAnswer.objects.create(token=token, name=name, call=call, at=wall_clock())
    except IntegrityError:
        return None


def forget_old(answers: QuerySet[KeptAnswer] | None = None) -> None:
    """Delete answers that are kept no longer: of all people by default."""
    of = KeptAnswer.objects.all() if answers is None else answers
    of.filter(at__lt=wall_clock() - KEPT).delete()


def _again(token: AccessToken, name: str, call: str) -> HttpResponse:
    try:
        count_call(token)
    except TooManyTriesError as error:
        return too_often(error)
    row = KeptAnswer.objects.filter(token=token, name=name).first()
    if row is not None and row.call != call:
        return problem(422, OTHERWISE)
    if row is None or row.status is None:
        is_lost = row is not None and row.at < wall_clock() - LOST
        return problem(409, UNKNOWN if is_lost else UNDER_WAY)
    content = decrypt(row.content, services.data())
    response = HttpResponse(content, status=row.status, content_type=row.content_type)
    response.headers["Idempotency-Replayed"] = "true"
    return response


def _token(request: HttpRequest) -> AccessToken | None:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return token_of(secret) if scheme.lower() == "bearer" else None


def _fingerprint(request: HttpRequest) -> str:
    call = f"{request.method} {request.get_full_path()}\n".encode()
    return _digest(call + request.body)


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
