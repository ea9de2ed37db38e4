"""How each part is doing, for machines: 200 if all are well, else 503.

Anybody may ask, so it tells nothing of anybody's mail, nor where the parts are: what exactly is
the matter is in the log.  A damaged file is named by its place in the data directory.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from filters.delivery.dispatch import claims
from filters.runs.models import Heartbeat, SetAside
from filters.runs.store import release, shared_window
from filters.site.settings.workers import IMAP, PARTS
from filters.site.work.parts import addresses, endings, machines, services, spark_restart
from filters.sources.models import OVERDUE, Source
from tapestry.core.clock import HOUR, MINUTE, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import WHAT_TO_DO, DamagedFileError
from tapestry.core.files.disk_space import has_room
from tapestry.plan.engine import EngineStuckError
from tapestry.spark.session import require_listening
from tapestry.tables.delta.log import snapshot

log = logging.getLogger(__name__)

SOON = 0.4
"""Seconds that a part has to answer."""

SILENCE = 2 * MINUTE
"""How long the listener and the lane of unproven filters may be silent: a turn takes time."""

LATE = MINUTE
"""How long the shared window and the lane of own windows may be behind."""

STANDING = 3 * HOUR
"""How long a source may have failed before that is said; its server is its owner's to mend."""

UNDELIVERED = 5 * MINUTE
"""How long what can be delivered may be due, while no worker is at it."""

LEAST_FREE, LEAST_FREE_PART = 1 << 30, 0.01
"""Bytes, and the part of the disk, below which it is nearly full."""


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer with one entry per part: ``{"ok": bool, "says": sentence}``."""
    parts = states()
    well = all(state["ok"] for state in parts.values())
    return JsonResponse({"ok": well, "parts": parts}, status=200 if well else 503)


def states() -> dict[str, dict[str, object]]:
    """Return whether each part is well, and a sentence of it, by the part's name."""
    checks = (
        _database,
        _tables,
        _disk,
        _parts,
        _redis,
        _spark,
        _shared_window,
        _own_windows,
        _unproven_windows,
        _listener,
        _sources,
        _deliveries,
        _set_aside,
    )
    return {check.__name__[1:]: _state(check) for check in checks}


class _UnwellError(Exception):
    """What is the matter with a part, in a sentence that anybody may read."""


def _state(check: Callable[[], str]) -> dict[str, object]:
    try:
        return {"ok": True, "says": check()}
    except _UnwellError as error:
        return {"ok": False, "says": str(error)}
    except DamagedFileError as error:
        log.warning("%s: %s", check.__name__[1:], error)
        return {"ok": False, "says": _damage(error.message)}
    except (TapestryError, DatabaseError, redis.RedisError, OSError) as error:
        log.warning("%s: %s", check.__name__[1:], error)
        return {"ok": False, "says": "does not answer; web.log says more"}


def _damage(message: str) -> str:
    """Return the error of a damaged file, with its place in the data directory, and what to do."""
    return f"{message.replace(f'{services.data()}/', '')} {WHAT_TO_DO}"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return connection.vendor


def _tables() -> str:
    snapshot(services.tables())
    return "can be read"


def _parts() -> str:
    """Say which parts of `up` have ended; why stands in their logs, which may name anything."""
    if settings.MACHINE:
        return _machines()
    unwell = endings.read(services.run())
    if unwell:
        raise _UnwellError(" ".join(_ending(part, "run") for part in unwell))
    return "run"


def _machines() -> str:
    """Say which machines are silent, and which parts have ended there."""
    every = machines.known()
    unwell = [
        f"The machine {machine.name} has said nothing for {seconds} s."
        for machine in every
        if (seconds := machine.silent_seconds())
    ]
    for machine in every:
        unwell += [_ending(part, f"run/machines/{machine.name}") for part in machine.endings]
    if missing := {*PARTS} - {IMAP} - {kind for machine in every for kind in machine.kinds}:
        unwell.append(f"No machine runs {', '.join(sorted(missing))}.")
    if unwell:
        raise _UnwellError(" ".join(unwell))
    return f"run on {', '.join(machine.name for machine in every)}"


def _ending(part: endings.Ending, directory: str) -> str:
    seconds = max(wall_clock() - part.since, 0) // SECOND
    often = "" if part.times == 1 else f", {part.times} times by now"
    then = "will be started again" if part.is_down else "was started again"
    return (
        f"{part.name} ended {seconds} s ago{often}, and {then}; {directory}/{part.log} says more."
    )


def _redis() -> str:
    with redis.Redis.from_url(
        services.redis_url(), socket_connect_timeout=SOON, socket_timeout=SOON
    ) as server:
        server.ping()
    return "answers"


def _spark() -> str:
    run, server, remote = services.run(), addresses.PROVEN, services.spark_remote()
    if addresses.is_dormant(run, server):
        if not spark_restart.wanted(run, server).exists():
            return "is not needed yet"
    elif remote is None:
        raise _UnwellError("Nobody has said where Spark is: set SPARK_REMOTE.")
    try:
        require_listening(remote or "", addresses.owner(run, server), SOON)
    except TapestryError:
        if spark_restart.is_new(run, server, services.START):
            return "is being started"
        raise
    return "answers"


def _disk() -> str:
    if not has_room(services.data()):
        raise _UnwellError("The disk is full: mail and filters wait until there is room.")
    total, _, free = shutil.disk_usage(services.data())
    if free < max(LEAST_FREE, total * LEAST_FREE_PART):
        raise _UnwellError(f"The disk is nearly full: {free / 1e9:.1f} GB are free.")
    return "has room"


def _shared_window() -> str:
    now, late = wall_clock(), 0
    for part in shared_window.parts():
        _lane(Heartbeat.of_part(part), "The run of all filters together", LATE)
        window = shared_window.stored_window(part)
        # After the clock was set back and on again, all up to now has been run, though long ago.
        late = max(late, min(now - (window.ran_at or 0), abs(now - (window.since or 0))))
    if late > LATE:
        raise _UnwellError(
            f"The run of all filters together is late: it last moved {late // SECOND} s ago."
        )
    return f"last moved {late // SECOND} s ago"


def _own_windows() -> str:
    return _lane(Heartbeat.OWN, "The run of filters by themselves", LATE)


def _unproven_windows() -> str:
    return _lane(Heartbeat.UNPROVEN, "The run of new filters", SILENCE)


def _lane(key: int, name: str, silence: int) -> str:
    heartbeat = Heartbeat.objects.filter(pk=key).first()
    if heartbeat is None:
        raise _UnwellError(f"{name} has not run yet.")
    if heartbeat.error_type == EngineStuckError.__name__:
        raise _UnwellError(heartbeat.error)
    silent = wall_clock() - (heartbeat.ended_at or heartbeat.started_at)
    if silent > silence:
        stuck = heartbeat.started_at > heartbeat.ended_at
        how = "began its run" if stuck else "last ran"
        at = heartbeat.started_at if stuck else heartbeat.ended_at
        seconds = (wall_clock() - at) // SECOND
        raise _UnwellError(f"{name} is late: it {how} {seconds} s ago.")
    if heartbeat.error:
        log.warning("%s: %s", name, heartbeat.error)
        if heartbeat.error_type == DamagedFileError.__name__:
            raise _UnwellError(_damage(heartbeat.error))
        raise _UnwellError(f"{name} failed the last time; the logs say why.")
    return f"last ran {max(silent, 0) // SECOND} s ago"


def _listener() -> str:
    if not Source.objects.filter(kind=Source.Kind.IMAP, active=True).exists():
        return "has no mailbox to listen to"
    heartbeat = Heartbeat.objects.filter(pk=Heartbeat.LISTENER).first()
    if heartbeat is None or wall_clock() - heartbeat.ended_at > SILENCE:
        raise _UnwellError("The listener shows no sign of life.")
    return "listens"


def _sources() -> str:
    """Say only whether all is well: the page of a source shows its owner its errors."""
    active = Source.objects.filter(active=True, owner__is_active=True)
    if not active.exists():
        return "there are none"
    if active.filter(due_at__lt=wall_clock() - OVERDUE).exists():
        raise _UnwellError("Some sources have waited for more than half an hour.")
    failing = active.filter(failures__gt=0)
    if failing.filter(pulled_at__lt=wall_clock() - STANDING).exists():
        return "are pulled, but some have brought nothing for long"
    return "are pulled, but some fail" if failing.exists() else "are pulled"


def _deliveries() -> str:
    """Say only whether workers are at it: the page of a destination shows its owner its errors."""
    limit = wall_clock() - UNDELIVERED
    if release.is_late(limit) or claims.is_late(limit):
        raise _UnwellError("Some deliveries have been due for more than five minutes.")
    return "are on time"


def _set_aside() -> str:
    """Say how much is: never a 503, for what is set aside holds up nothing else."""
    number = SetAside.objects.count()
    return f"{number} set aside; the operator's page says why" if number else "nothing"
