"""What goes wrong in a world: processes end, writes fail, clocks step, engines give up."""

from __future__ import annotations

from functools import partial

from tests.simulation.generator.arrivals import bring_mail
from tests.simulation.generator.cast import Cast
from tests.simulation.settling import run_task
from tests.simulation.tasks import BEATS, Task
from tests.simulation.world import DAY, HOUR, MINUTE, NO_FAULT, SECOND

AT = (1, 2, 3, 4, 5, 7, 9, 12, 16, 22)
"""At which write, or statement, of the next order something goes wrong."""


def crash(cast: Cast) -> None:
    """Have the site end at one of its next writes."""
    _plan(cast, "crash")


def lose_power(cast: Cast) -> None:
    """Have the machine end at one of the next writes: what was not synced is there, or not."""
    cast.world.stop()
    _plan(cast, "power")


def fail_write(cast: Cast) -> None:
    """Have one of the next writes fail, of the disk or for want of room."""
    _plan(cast, cast.lots.choice(("io_error", "disk_full")))


def fail_statement(cast: Cast) -> None:
    """Have the engine give up one of the next statements of a lane."""
    _plan(cast, cast.lots.choice(("too slow", "too many", "stuck", "broken")))
    lane = cast.lots.choice(("tick", "own_windows", "unproven_windows"))
    run_task(cast.world, Task(f"filters.{lane}"))


def step_clock(cast: Cast) -> None:
    """Have the wall clock be set, forward or back."""
    by = cast.lots.choice((SECOND, 20 * SECOND, 7 * MINUTE, HOUR, 5 * HOUR, DAY))
    cast.world.step_clock(by * cast.lots.choice((1, -1)) + cast.lots.randint(0, SECOND))


def restart(cast: Cast) -> None:
    cast.world.stop()
    cast.history.add("fault", kind="restart")


def lose_queue(cast: Cast) -> None:
    cast.history.add("fault", kind="lost_queue", tasks=cast.world.queue.lose())


def misbehave(cast: Cast) -> None:
    """Have servers of the outside refuse, hang, or cut."""
    lots = cast.lots
    cast.world.endpoints.misbehave(
        lots.choice(("smtp", "http", "push", "imap", "imap")), lots.choice((1, 1, 2, 5))
    )


def split(cast: Cast) -> None:
    """Have a machine stand still at a write, and lose its locks to another; then it goes on.

    Soon it notices, and ends (a split brain).
    """
    lots, world = cast.lots, cast.world
    tasks = [partial(run_task, world, Task(name)) for name in BEATS]

    def another() -> None:
        for task in lots.sample(tasks, 5):
            task()

    cast.history.add("fault", kind="split")
    kind, at = ("split_link", (1, 1, 2, 3)) if lots.random() < 0.5 else ("split", AT)
    world.plan_meanwhile(another, 1)
    for act in (partial(bring_mail, cast), *lots.sample(tasks, 4)):
        if world.meanwhile is not None:
            world.fault = (kind, lots.choice(at))
            act()
    world.meanwhile, world.fault = None, NO_FAULT


def _plan(cast: Cast, kind: str) -> None:
    at = cast.lots.choice(AT)
    cast.world.fault = (kind, at)
    cast.history.add("fault", kind=kind.replace(" ", "_"), at=at)
