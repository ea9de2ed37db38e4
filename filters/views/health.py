"""How each part is doing, for machines: 200 if all are well, else 503."""

from __future__ import annotations

from collections.abc import Callable

import redis
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from filters import parts, rounds
from filters.models import Pulse, Source
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.run.connection import must_answer
from tapestry.tables.log import snapshot

SOON = 0.4
"""Seconds that a part has to answer."""

SILENCE = 2 * MINUTE
"""How long worker and listener may be silent; a run under way counts as a sign of life."""

OVERDUE = 30 * MINUTE
"""How long a source may wait for its turn."""


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer with one entry per part: ``{"ok": bool, "says": sentence}``."""
    parts_ = {
        name: _state(ask)
        for name, ask in (
            ("database", _database),
            ("tables", _tables),
            ("redis", _redis),
            ("spark", _spark),
            ("worker", _worker),
            ("listener", _listener),
            ("sources", _sources),
        )
    }
    well = all(state["ok"] for state in parts_.values())
    return JsonResponse({"ok": well, "parts": parts_}, status=200 if well else 503)


def _state(ask: Callable[[], str]) -> dict[str, object]:
    try:
        return {"ok": True, "says": ask()}
    except TapestryError as error:
        return {"ok": False, "says": error.message}
    except (DatabaseError, redis.RedisError, OSError) as error:
        return {"ok": False, "says": str(error)}


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return connection.vendor


def _tables() -> str:
    found = snapshot(parts.tables())
    return f"{sum(part.rows for part in found.messages)} messages"


def _redis() -> str:
    with redis.Redis.from_url(
        parts.redis_url(), socket_connect_timeout=SOON, socket_timeout=SOON
    ) as server:
        server.ping()
    return "answers"


def _spark() -> str:
    remote = parts.spark_remote()
    if remote is None:
        raise TapestryError("Nobody has said where Spark is: set SPARK_REMOTE.")
    must_answer(remote, SOON)
    return "answers"


def _worker() -> str:
    pulse = Pulse.objects.filter(pk=Pulse.WORKER).first()
    now = wall_clock()
    if pulse is None:
        raise TapestryError("The worker has not run yet.")
    if pulse.started_at > pulse.ended_at and rounds.under_way():
        return "is running what is due"
    if now - pulse.ended_at > SILENCE:
        raise TapestryError(f"The worker last ran {(now - pulse.ended_at) // SECOND} s ago.")
    if pulse.error:
        raise TapestryError(pulse.error)
    return f"last ran {(now - pulse.ended_at) // SECOND} s ago"


def _listener() -> str:
    if not Source.objects.filter(kind=Source.Kind.IMAP, active=True).exists():
        return "has no mailbox to listen to"
    pulse = Pulse.objects.filter(pk=Pulse.LISTENER).first()
    if pulse is None or wall_clock() - pulse.ended_at > SILENCE:
        raise TapestryError("The listener shows no sign of life.")
    return "listens"


def _sources() -> str:
    """Count them, for everybody reads it; names and errors are on the page of sources."""
    active = Source.objects.filter(active=True, owner__is_active=True)
    late = active.filter(due_at__lt=wall_clock() - OVERDUE).count()
    if not active.exists():
        return "there are none"
    if late:
        raise TapestryError(f"{late} of {active.count()} sources wait for more than half an hour.")
    return f"{active.count()} are pulled, {active.filter(failures__gt=0).count()} of them fail"
