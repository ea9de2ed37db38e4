"""Scenes: a few things that happen in an order that matters, and would seldom come by lot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulation.generator import beginnings, changes, people
from tests.simulation.generator.cast import Cast
from tests.simulation.generator.desk import act
from tests.simulation.generator.trouble import AT
from tests.simulation.settling import run_task
from tests.simulation.tasks import Task
from tests.simulation.world import HOUR, MINUTE, SECOND

LANES = ("filters.tick", "filters.own_windows", "filters.unproven_windows")
QUEUES = ("mail", "outbound")
MANY = 35
"""Messages that are a flood, if a filter finds them at once; some more than half are brought."""

CUT = "accept, then cut"

Bring = Callable[..., None]


def send_badly(cast: Cast, bring: Bring) -> None:
    """Have servers answer the first of what is sent well and the next badly; then more comes."""
    lots, world = cast.lots, cast.world
    _find(cast, bring, lots.choice((1, 2, 4)))
    sleeps = lots.random() < 0.5
    for kind in ("smtp", "http", "push"):
        answer = CUT if sleeps else lots.choice(("", "hang", "gone", CUT))
        after = 0 if sleeps else lots.choice((0, 0, 2, 4))
        world.endpoints.misbehave(kind, lots.choice((1, 2, 5)), after, answer)
    world.endpoints.misbehave("imap", 1, lots.choice((1, 1, 2)), "append")
    if not sleeps and lots.random() < 0.4:
        world.fault = ("crash", lots.choice(AT))
        cast.history.add("fault", kind="crash", at=world.fault[1])
    _deliver(cast)
    if sleeps:
        _sleep(cast, bring)
    elif lots.random() < 0.7:
        _find(cast, bring, 1)
    world.pass_time(lots.choice((SECOND, MINUTE, 7 * MINUTE)))
    _deliver(cast)
    beginnings.ask_again(cast)


def _sleep(cast: Cast, bring: Bring) -> None:
    """Have somebody to whom something could not be sent rest for a while, and more come for them.

    Who has a holiday comes back before its end.
    """
    failed = cast.world.select(
        "SELECT DISTINCT u.username FROM delivery_destination d JOIN people_user u"
        " ON u.id = d.owner_id WHERE d.claimed_until IS NOT NULL AND d.active ORDER BY u.username"
    )
    person = cast.lots.choice([row["username"] for row in failed] or cast.names)
    comes_back = cast.lots.random() < 0.5
    cast.world.pass_time(7 * MINUTE)
    _find(cast, bring, 1)
    (people.go_away if comes_back else people.fall_asleep)(cast, person)
    _deliver(cast)
    _find(cast, bring, 1)
    if comes_back:
        people.wake(cast, person)
    else:
        cast.world.pass_time(2 * HOUR)
    run_task(cast.world, Task("filters.deliver_due"))


_FORWARDS = """
SELECT 1 FROM delivery_destination d JOIN people_user u ON u.id = d.owner_id
WHERE d.kind = 'forward' AND d.active AND d.all_filters AND u.username = ?"""


def flood(cast: Cast, bring: Bring) -> None:
    """Have a filter find far more than is usual, and what is forwarded beside it be refused."""
    lots, world = cast.lots, cast.world
    person = lots.choice(cast.names)
    seen = [row for row in cast.mail.rows if row["audience"] in cast.audiences_of(person)]
    if len(seen) < MANY // 2 or any(cast.people[person].get(name) for name in people.AWAKE):
        return
    if len(seen) < MANY:
        bring(cast, MANY // 2 + 3)
    if not world.select(_FORWARDS, person):
        beginnings.send_to(cast, person, "forward", None)
    for mail in ("existing", "new"):
        beginnings.write(cast, person, "m.size > 0", "keep", mail=mail, timeliness="at once")
    _find(cast, bring, 1)
    world.endpoints.misbehave("smtp", 1, lots.choice((1, 2, 2)), "refuse content")
    _deliver(cast)
    world.pass_time(7 * MINUTE)
    _deliver(cast)


def mute_what_waits(cast: Cast, bring: Bring) -> None:
    """Have somebody mute a thread, or unmute it, that was released and is not sent yet."""
    lots, person = cast.lots, cast.lots.choice(cast.names)
    listed = cast.listed(person)
    if listed:
        act(cast, person, lots.choice(("mute", "mute", "unmute")), [lots.choice(listed)])
    _find(cast, bring, 2)
    waiting = cast.world.select(
        "SELECT DISTINCT m.msgid FROM inbox_match m JOIN authoring_filter f ON f.id = m.filter_id"
        " JOIN people_user u ON u.id = f.owner_id WHERE u.username = ? AND m.sequence > coalesce("
        "(SELECT min(cursor) FROM delivery_destination d WHERE d.owner_id = u.id), 0)"
        " ORDER BY m.msgid",
        person,
    )
    if waiting:
        act(cast, person, "mute", [lots.choice(waiting)["msgid"]])
    _deliver(cast)


def change_in_flight(cast: Cast, bring: Bring) -> None:
    """Have a filter be changed, and perhaps be run, while its window is run."""
    lots, world = cast.lots, cast.world
    rows = world.select(
        "SELECT id, enrolled, proven FROM authoring_filter WHERE active ORDER BY id"
    )
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
