"""What programs did by their tokens: which calls, about what, when; never what was answered.

    call ─> GET message · plan@example.org · first at 9:58, last at 10:03

A call that the token opens is recorded, whether it was answered or refused.  What only asks whether
an answer is there yet is none of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest
from django.http.request import RawPostDataException

from filters.api.authentication import RECORDED
from filters.api.models import AccessToken, TokenUse
from filters.site.work.db.batching import in_batches
from tapestry.core.clock import wall_clock
from tapestry.core.log import event

KEPT = 1_000
"""Uses that are kept of a token, the latest; up to a tenth more until they are counted again."""

LARGEST = 65536
"""Bytes of a call's content that are read for what it is about."""

ABOUT = ("name", "owner", "key", "id", "filter", "answers", "action", "text")
"""Fields of calls that say what they are about: what others wrote is in none of them."""

LONGEST = 200
"""Characters that are kept of what a call is about."""

NAMED = 3
"""Messages of a call that are named."""

BETWEEN = " · "
"""What stands between the things that a call is about."""

_BRACES = str.maketrans("<>", "{}")


def record(token: AccessToken, request: HttpRequest, named: Mapping[str, Any]) -> None:
    """Record a call of a token; ``named`` are the parts of its path."""
    if "task" in named or request.resolver_match is None:
        return
    route = request.resolver_match.route.removeprefix("api/v1/").translate(_BRACES)
    call = f"{request.method} {route}"
    about = BETWEEN.join(_about(request, named))[:LONGEST]
    now = wall_clock()
    same = TokenUse.objects.filter(token=token, call=call, about=about)
    try:
        last = same.values_list("last_at", flat=True).first()
        if last is None:
            _add(token, call, about, now)
        elif not 0 <= now - last < RECORDED:
            same.update(last_at=now)
    except DatabaseError as error:
        event("token_use_not_recorded", error=type(error).__name__)  # the call was made


def forget(keys: frozenset[str]) -> None:
    """Forget the calls that were about messages of some keys, or may have been: cut off."""
    rows = TokenUse.objects.exclude(about="").values_list("pk", "about").iterator()
    named = [
        key
        for key, about in rows
        if len(about) == LONGEST or not keys.isdisjoint(about.split(BETWEEN))
    ]
    for uses in in_batches(TokenUse.objects.order_by(), named):
        uses.delete()


def _add(token: AccessToken, call: str, about: str, now: int) -> None:
    if not AccessToken.objects.filter(pk=token.pk).exists():
        return  # deleted while the call waited
    use, _ = TokenUse.objects.get_or_create(
        token=token, call=call, about=about, defaults={"first_at": now, "last_at": now}
    )
    if use.pk % (KEPT // 10) == 0:
        latest = TokenUse.objects.filter(token=token).values_list("last_at", flat=True)
        oldest = latest[KEPT : KEPT + 1].first()
        if oldest is not None:
            TokenUse.objects.filter(token=token, last_at__lte=oldest).delete()


def _about(request: HttpRequest, named: Mapping[str, Any]) -> Iterator[str]:
    fields = {**request.GET.dict(), **_content(request), **named}
    yield from (str(fields[name]) for name in ABOUT if fields.get(name))
    copies = fields.get("messages")
    if isinstance(copies, list):
        yield from (str(copy.get("id")) for copy in copies[:NAMED] if isinstance(copy, dict))
        if len(copies) > NAMED:
            yield f"{len(copies) - NAMED:,} more"


def _content(request: HttpRequest) -> dict[str, Any]:
    """Return the fields of a call's content, none where it has no JSON object, or a large one."""
    with suppress(ValueError, RawPostDataException):
        if int(request.META.get("CONTENT_LENGTH") or 0) <= LARGEST:
            content = json.loads(request.body or b"null")
            return content if isinstance(content, dict) else {}
    return {}
