"""Run tasks, and run all of them until nothing is due."""

from __future__ import annotations

from typing import Any

from tests.simulation import sources, tables_reader
from tests.simulation.tasks import BEATS, SECOND, Task
from tests.simulation.world import HOUR, CrashedError, OrderFailedError, World

MOST = 100
"""Rounds after which a world does not settle, which is a fault of it.

A day in which a source fails each hour is fifty: what was planned before the clock was set back by
a day is waited for.
"""


_STANDING = """
SELECT (SELECT count(*) FROM inbox_match) AS matches,
    (SELECT count(*) FROM inbox_match WHERE sequence IS NULL OR refreshed_at IS NULL) AS waiting,
    (SELECT max(last) FROM runs_releasecounter) AS position,
    (SELECT group_concat(cursor || '/' || coalesce(claimed_until, '') || holder, ' ')
        FROM delivery_destination) AS cursors,
    (SELECT count(*) FROM reading_outboxannotation WHERE appended_at IS NULL) AS outbox,
    (SELECT count(*) FROM authoring_filter WHERE enrolled) AS enrolled,
    (SELECT count(*) FROM authoring_filter WHERE active AND NOT enrolled AND error = ''
        AND since < (SELECT max(since) FROM runs_sharedwindow)) AS behind,
    (SELECT count(*) FROM authoring_pendingwindow) AS pending,
    (SELECT count(*) FROM inbox_appraisal WHERE is_stale) AS appraisals,
    (SELECT count(*) FROM sources_mailboxact WHERE ended_at IS NULL) AS acts
"""


_BEATING = """
SELECT DISTINCT owner_id AS owner FROM delivery_destination WHERE kind = 'webhook' ORDER BY 1"""


def run_task(world: World, task: Task) -> None:
    """Have a worker run a task; one that ended with its worker is lost."""
    try:
        trace = world.order(
            "task", name=task.name, args=task.args, kwargs=task.kwargs, task_id=task.task_id
        )
    except CrashedError:
        world.history.add("fault", kind="crashed", during=task.name)
        return
    except OrderFailedError as error:
        trace = str(error)
    if trace:
        planned = {"planned": True} if world.planned else {}
        world.history.add("error", during=task.name, text=trace, **planned)


def settle(cast: Any) -> None:
    """Run what is due, and what the clock asks for, until nothing changes any more.

    Time passes as it would: what is to be tried again is waited for.  Webhooks get beats meanwhile.
    """
    world: World = cast.world
    world.history.add("settling")
    before: Any = None
    quiet = 0
    for round_number in range(MOST):
        while (task := world.queue.take(world.now)) is not None:
            run_task(world, task)
        for name in BEATS:
            run_task(world, Task(name))
        for row in world.select(_BEATING):
            run_task(world, Task("filters.beat_webhooks_of", (row["owner"],)))
        after = _standing(world)
        waits = world.queue.tasks or _is_waiting(world)
        quiet = quiet + 1 if after == before and not waits else 0
        if quiet and _runs_hourly(world):
            world.pass_time(HOUR - world.now % HOUR)
        elif quiet:
            world.history.add("settled", rounds=round_number + 1)
            return
        before = after
        if waits and not any(task.due <= world.now for task in world.queue.tasks):
            world.pass_time(_pause(world))
    world.history.add("settled", rounds=MOST, unsettled=True)


def _standing(world: World) -> Any:
    """Return what tells whether a round has changed anything."""
    return tuple(world.select(_STANDING)[0].values())


_DUE = """
SELECT due_at FROM delivery_destination WHERE active AND due_at IS NOT NULL
UNION ALL SELECT due_at FROM compose_outgoingmessage WHERE due_at IS NOT NULL
UNION ALL SELECT acts_due_at FROM sources_source s JOIN people_user u ON u.id = s.owner_id
    WHERE s.active AND s.may_act AND u.is_active AND EXISTS (
        SELECT 1 FROM sources_mailboxact a WHERE a.source_id = s.id AND a.ended_at IS NULL)
UNION ALL SELECT try_again_at FROM runs_setaside WHERE kind <> 'index' AND try_again_at >= ?
"""
"""When something is sent, or tried again."""


_BEHIND = """
SELECT f.id AS key, u.username AS owner, since
FROM authoring_filter f JOIN people_user u ON u.id = f.owner_id
WHERE active AND NOT enrolled AND error = '' AND since < ? ORDER BY f.id
"""
"""Filters that were not run over all that is there."""


def _runs_hourly(world: World) -> bool:
    """Tell whether a filter waits for the next hour, and write down which do."""
    if "seconds" not in world.budgets:
        return False
    tables = (world.data / "tables" / name for name in ("messages", "annotations"))
    stamps = (row["ts"] for table in tables for row in tables_reader.rows_of(table))
    behind = world.select(_BEHIND, max(stamps, default=0))
    if behind:
        world.history.add("slow", rows=behind)
    return bool(behind)


def _is_waiting(world: World) -> bool:
    """Tell whether something is to be sent or tried again, now or soon."""
    limit = world.now + 3600 * SECOND
    times = [row["due_at"] for row in world.select(_DUE, world.now)] + sources.awaited(world)
    return any(time < limit for time in times)


def _pause(world: World) -> int:
    """Return how long nothing happens: until a task or a destination is due."""
    times = [task.due for task in world.queue.tasks]
    times += [row["due_at"] for row in world.select(_DUE, world.now)] + sources.awaited(world)
    return max(SECOND // 10, min(times, default=world.now) - world.now + 1)
