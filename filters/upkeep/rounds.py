"""One round of the worker: append what people said, run what is due, copy the cards.

Rounds do not overlap on one machine: a lock on a file, which a killed process lets go.  On
several, an overlap costs work but no correctness, for windows are compared before they are
set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    """Run one round now, or up to ``at`` if that is later; the caller holds the lock.

    What the round came to is written down for the health page, an error too.
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


@contextmanager
def round_lock(*, wait: bool) -> Iterator[bool]:
    """Yield whether this process may run a round; wait for its turn, or be told no."""
    path = services.data() / "run" / "round.lock"
    with file_lock(path, wait=FOREVER if wait else 0.0) as acquired:
        yield acquired


def is_running() -> bool:
    """Tell whether some process of this machine is in a round now."""
    with round_lock(wait=False) as free:
        return not free
