"""What the worker does by the clock: a round of what is due, and upkeep every hour."""

from __future__ import annotations

import logging

from filters.runtime import services
from filters.upkeep import rounds
from filters.upkeep.forgetting import forget_old
from tapestry.celery import app
from tapestry.core.errors import TapestryError
from tapestry.core.log import line

log = logging.getLogger(__name__)


@app.task(name="filters.tick", ignore_result=True)
def tick() -> None:
    with rounds.round_lock(wait=False) as acquired:
        if acquired:
            try:
                rounds.run_round()
            except TapestryError as error:
                log.error("%s", line("tick", error=error.message, hint=error.hint))


@app.task(name="filters.compact", ignore_result=True)
def compact() -> None:
    """Merge the small files of the tables, and remove what is older than it may be kept."""
    from tapestry.tables.compact import compact as compact_tables

    compact_tables(services.tables())
    forget_old()
