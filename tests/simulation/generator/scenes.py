"""Scenes: a few things that happen in an order that matters, and would seldom come by lot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulation.generator import changes, people
from simulation.generator.cast import Cast
from simulation.generator.desk import act
from simulation.generator.trouble import AT
from simulation.settling import run_task
from simulation.tasks import Task
from simulation.world import HOUR, MINUTE, SECOND

LANES = ("filters.tick", "filters.own_windows", "filters.unproven_windows")
QUEUES = ("mail", "outbound")

Bring = Callable[[Cast], None]


def send_badly(cast: Cast, bring: Bring) -> None:
    """Have servers answer the first of what is sent well and the next badly; then more comes."""
    lots, world = cast.lots, cast.world
    _find(cast, bring, lots.choice((1, 2, 4)))
    for kind in ("smtp", "http", "push"):
        answer = lots.choice(("", "accept, then cut"))
        world.endpoints.misbehave(kind, lots.choice((1, 2, 5)), lots.choice((0, 0, 1, 2)), answer)
    world.endpoints.misbehave("imap", 1, lots.choice((1, 1, 2)), "append")
    if lots.random() < 0.3:
        world.fault = ("crash", lots.choice(AT))
        cast.history.add("fault", kind="crash", at=world.fault[1])
    _deliver(cast)
    if lots.random() < 0.5:
        _find(cast, bring, 1)
    if lots.random() < 0.25:
        _sleep(cast, bring)
    world.pass_time(lots.choice((SECOND, MINUTE, 7 * MINUTE)))
    _deliver(cast)


def _sleep(cast: Cast, bring: Bring) -> None:
    """Have somebody to whom something could not be sent rest for a while, in which more comes."""
    failed = cast.world.select(
        "SELECT DISTINCT u.username FROM filters_destination d JOIN auth_user u"
        " ON u.id = d.owner_id WHERE d.claimed_until IS NOT NULL AND d.active ORDER BY u.username"
    )
    person = cast.lots.choice([row["username"] for row in failed] or cast.names)
    cast.world.pass_time(7 * MINUTE)
    people.fall_asleep(cast, person)
    _deliver(cast)
    _find(cast, bring, 1)
    if cast.lots.random() < 0.5:
        people.wake(cast, person)
    else:
        cast.world.pass_time(2 * HOUR)
    run_task(cast.world, Task("filters.deliver_due"))


def mute_what_waits(cast: Cast, bring: Bring) -> None:
    """Have somebody mute a thread, or unmute it, that was released and is not sent yet."""
    lots, person = cast.lots, cast.lots.choice(cast.names)
    listed = cast.listed(person)
    if listed:
        act(cast, person, lots.choice(("mute", "mute", "unmute")), [lots.choice(listed)])
    _find(cast, bring, 2)
    waiting = cast.world.select(
        "SELECT DISTINCT m.msgid FROM filters_match m JOIN filters_filter f ON f.id = m.filter_id"
        " JOIN auth_user u ON u.id = f.owner_id WHERE u.username = ? AND m.sequence > coalesce("
        "(SELECT min(cursor) FROM filters_destination d WHERE d.owner_id = u.id), 0)"
        " ORDER BY m.msgid",
        person,
    )
    if waiting:
        act(cast, person, "mute", [lots.choice(waiting)["msgid"]])
    _deliver(cast)


def change_in_flight(cast: Cast, bring: Bring) -> None:
    """Have a filter be changed, and perhaps be run, while its window is run."""
    lots, world = cast.lots, cast.world
    rows = world.select("SELECT id, enrolled, proven FROM filters_filter WHERE active ORDER BY id")
    if not rows:
        return
    own = [row for row in rows if not row["enrolled"]]
    row = lots.choice(own if own and lots.random() < 0.7 else rows)
    lane = 0 if row["enrolled"] else 1 if row["proven"] else 2
    bring(cast)
    if lane:  # it is run up to where the shared window ends
        run_task(world, Task(LANES[0]))
    runs = lots.random() < 0.5

    def change() -> None:
        changes.of_any_kind(cast, row["id"])
        for other in LANES[1:] if runs else ():
            run_task(world, Task(other))

    world.plan_meanwhile(change, lots.choice((1, 1, 2)))
    for name in (LANES[lane], *LANES):
        run_task(world, Task(name))
    world.meanwhile = None


def _find(cast: Cast, bring: Bring, times: int) -> None:
    """Have mail come, be found and be released."""
    for _ in range(times):
        bring(cast)
    for name in (*LANES, "filters.deliver_due"):
        run_task(cast.world, Task(name))


def _deliver(cast: Cast) -> None:
    queues: tuple[Any, ...] = QUEUES
    for queue in queues:
        run_task(cast.world, Task("filters.deliver", (queue,)))
