"""One round of the worker: append what people said, run what is due, copy the cards.

Rounds do not overlap on one machine: a file lock, which ends with its process, excludes them.
On several machines an overlap costs work, not correctness: windows are set by compare-and-set.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from filters.inbox.cards import refresh_cards
from filters.inbox.outbox import append_outbox
from filters.models import Heartbeat
from filters.runtime import services
from filters.store.filter_store import DjangoClock, DjangoFilterStore
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.file_lock import FOREVER, file_lock

if TYPE_CHECKING:
    from tapestry.run.tick import TickReport


def run_round(at: int | None = None) -> TickReport:
    """Run a round now, or up to ``at`` if that is later; the caller holds the lock.

    Its end, and its error if there is one, are stored for the health page.
    """
    from tapestry.run.tick import tick

    Heartbeat.objects.update_or_create(pk=Heartbeat.WORKER, defaults={"started_at": wall_clock()})
    error = "It stopped half-way."
    try:
        tables = services.tables()
        append_outbox(tables)
        clock, store = DjangoClock(), DjangoFilterStore()
        report = tick(services.engine_on, tables, clock, store, at)
        refresh_cards(tables)
        error = ""
    except TapestryError as failure:
        error = failure.message
        raise
    except Exception as failure:
        error = f"The last run failed ({type(failure).__name__}); the worker's log says why."
        raise
    finally:
        Heartbeat.objects.filter(pk=Heartbeat.WORKER).update(ended_at=wall_clock(), error=error)
    return report


def round_lock(*, wait: bool) -> AbstractContextManager[bool]:
    """Hold the lock of the rounds; yield whether it was acquired, at once or after a wait."""
    path = services.data() / "run" / "round.lock"
    return file_lock(path, wait=FOREVER if wait else 0.0)


def is_running() -> bool:
    with round_lock(wait=False) as free:
        return not free
