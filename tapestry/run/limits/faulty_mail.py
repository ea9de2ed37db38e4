"""A filter that cannot be run over some mail: that mail is left for later, the rest goes on.

    (since ──────┬─ mail ─┬────── until]
      committed  │ set    │ due, as before
                 │ aside  │

A batch of mail is the least: its rows have one instant.  What also matches for other reasons after
that instant is found then, with a later ``matched_at``; no match is lost, and none comes twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tapestry.core.log import event
from tapestry.core.ports import DueFilter, FilterStore
from tapestry.core.surroundings import is_of_surroundings
from tapestry.run.limits.window_cut import half
from tapestry.tables.delta.log import Snapshot

Attempt = Callable[[DueFilter], object]
"""Run a filter over a window that ends, and store what it found; raise what it raises."""


def leave_faulty_mail(
    attempt: Attempt, store: FilterStore, seen: Snapshot, due: DueFilter, until: int
) -> bool:
    """Find the first mail over which a filter cannot be run, and set its window aside.

    Return False, and leave the filter as it is, if it cannot be run over no mail either.
    """
    if _error(attempt, replace(due, until=due.since + 1)) is not None:
        return False
    low, high = due.since + 1, until
    error = _error(attempt, replace(due, since=low, until=high))
    while error is not None and (middle := half(seen, low, high)) is not None:
        if (fault := _error(attempt, replace(due, since=low, until=middle))) is None:
            low = middle
        else:
            high, error = middle, fault
    if error is not None:
        event("mail_left", filter_id=due.filter_id, since=low, until=high)
        store.postpone(replace(due, since=low), high, error)
    return True


def _error(attempt: Attempt, due: DueFilter) -> Exception | None:
    try:
        attempt(due)
    except Exception as error:
        if is_of_surroundings(error):
            raise
        return error
    return None
