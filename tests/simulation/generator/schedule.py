"""What happens next in a world, drawn by lot: a step of mail, people, tasks, time or faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from tests.simulation import looking, observations
from tests.simulation.generator import (
    aggregates,
    beginnings,
    books,
    changes,
    desk,
    doings,
    importance,
    letters,
    mail_programs,
    mailboxes,
    people,
    pieces,
    plots,
    programs,
    questions,
    reminders,
    scenes,
    scripts,
    trouble,
    upkeep,
)
from tests.simulation.generator.aims import best
from tests.simulation.generator.arrivals import bring_mail
from tests.simulation.generator.cast import Cast
from tests.simulation.settling import run_task, settle
from tests.simulation.tasks import BEATS, Task
from tests.simulation.world import DAY, HOUR, MINUTE, NO_FAULT, SECOND, World

SETTLED = 25
"""Steps between two settled points, about."""

CHANGED, RESTED = 4, 12
"""Filters that are changed at once, or rest and go on, where what they say has not met that."""

OFTEN = 0.6
"""How likely an end is planned for a step, where the site is to be killed often."""

FILTERS = 20
"""Filters that are written before anything else happens, beside those of set pieces."""


def strangers(cast: Cast) -> None:
    """Have people who are not here say something: a program appends it."""
    row = cast.visible_message(cast.lots.choice(cast.names))
    if row is None:
        return
    lots = cast.lots
    cast.made += 1
    said = {
        "annid": f"s{cast.made}",
        "msgid": row["msgid"],
        "owner": lots.choice(("Jones", "alice", "terry")),
        "kind": lots.choice(("vote", "vote", "tag")),
        "value": lots.choice((None, "later", "index")),
        "number": lots.choice((1.0, 1.0, -1.0, None)),
        "audience": row["audience"],
    }
    if cast.said and lots.random() < 0.3:
        back = lots.choice(cast.said)
        said = {
            **back,
            "annid": said["annid"],
            "kind": "retraction",
            "value": back["annid"],
            "number": None,
        }
    elif said["kind"] == "vote":
        said["value"] = None
    cast.said.append(said)
    cast.order("annotate", rows=[said])
    cast.history.add("submitted", table="annotations", rows=[said], origin="append")


def work(cast: Cast) -> None:
    """Have a worker do something: any task that waits, or one that the clock asks for."""
    lots, world = cast.lots, cast.world
    for _ in range(lots.choice((1, 1, 2, 3))):
        task = world.queue.take(world.now, lots) if lots.random() < 0.6 else None
        run_task(world, task or Task(lots.choice(BEATS)))
        if task is not None and lots.random() < 0.05:
            run_task(world, task)  # a queue may deliver twice


def race(cast: Cast) -> None:
    """Have something happen while a lane waits for a statement, or a delivery for a server."""
    lots, world = cast.lots, cast.world
    tasks = ("filters.tick", "filters.own_windows", "filters.unproven_windows", "filters.deliver")
    others: tuple[Callable[[Cast], None], ...] = (
        *(bring_mail, doings.say, doings.change_filter, doings.change_filter, doings.triage),
        *(doings.write_filter, strangers, lambda cast: run_task(world, Task(lots.choice(BEATS)))),
    )
    other = lots.choice(others)
    world.plan_meanwhile(lambda: other(cast), lots.choice((1, 1, 1, 2, 3)))
    for name in lots.sample(tasks, len(tasks)):
        args = (lots.choice(scenes.QUEUES),) if name == "filters.deliver" else ()
        run_task(world, Task(name, args))
    world.meanwhile = None


def pass_time(cast: Cast) -> None:
    lots = cast.lots
    cast.world.pass_time(
        lots.choice(
            (1, SECOND, 20 * SECOND, 7 * MINUTE, 31 * MINUTE, HOUR, 9 * HOUR, DAY, 3 * DAY, 8 * DAY)
        )
        + lots.randint(0, SECOND)
    )


def send_somewhere(cast: Cast) -> None:
    """Have somebody want their matches sent somewhere."""
    lots = cast.lots
    person, kind = best(
        lots,
        [(name, kind) for name in cast.names for kind in beginnings.KINDS],
        lambda drawn: cast.aims.lacks(drawn[1], cast.aims.of(drawn[0])),
    )
    mine = [key for key, row in cast.filters.items() if row["owner"] == person]
    all_of_them = lots.random() < 0.7 or not mine
    filters = None if all_of_them else sorted(lots.sample(mine, min(2, len(mine))))
    beginnings.send_to(cast, person, kind, filters)


def send_badly(cast: Cast) -> None:
    scenes.send_badly(cast, bring_mail)


def flood(cast: Cast) -> None:
    scenes.flood(cast, bring_mail)


def mute_what_waits(cast: Cast) -> None:
    scenes.mute_what_waits(cast, bring_mail)


def change_in_flight(cast: Cast) -> None:
    scenes.change_in_flight(cast, bring_mail)


def answer_late(cast: Cast) -> None:
    """Have a day and more pass, and then mail come, much of which answers what was there."""
    cast.world.pass_time(DAY + cast.lots.randint(1, HOUR))
    bring_mail(cast, 6)


def rest_some(cast: Cast) -> None:
    """Have some filters pause, and go on once something was done without them."""
    doings.change_filter(cast, ["pause"], RESTED)
    work(cast)
    doings.change_filter(cast, ["resume"], RESTED)


def meet(cast: Cast) -> None:
    """Do what meets filters that have not met it yet: what lacks most, and was done least."""
    early = cast.history.step < cast.early
    events = [event for event in MEETINGS if not (early and event == "forget")]
    lacks = [cast.aims.lacks(event) ** 2 / 4 ** cast.used[MEETINGS[event]] for event in events]
    if any(lacks):
        (event,) = cast.lots.choices(events, lacks)
        cast.used[MEETINGS[event]] += 1
        MEETINGS[event](cast)


MEETINGS: dict[str, Callable[[Cast], object]] = {
    **{
        how: partial(doings.change_filter, hows=[how], count=CHANGED)
        for how in ("edit", "mode", "timeliness")
    },
    **dict.fromkeys(("pause", "resume"), rest_some),
    **dict.fromkeys(("reply", "old mail", "reply before its parent"), partial(bring_mail, size=6)),
    "late reply": answer_late,
    **dict.fromkeys(("forged copy", "other audience"), partial(bring_mail, again=0.6)),
    **dict.fromkeys(("done", "snooze", "mute"), partial(doings.triage, often=1.0)),
    "undo": doings.undo,
    **dict.fromkeys(("vote", "tag"), doings.say),
    **dict.fromkeys(beginnings.KINDS, send_somewhere),
    **{"retraction": strangers, "person changed": people.regroup, "matched": doings.write_filter},
    **{"crash": trouble.crash, "restart": trouble.restart, "lost queue": trouble.lose_queue},
    **{"endpoint": trouble.misbehave, "clock step": trouble.step_clock},
    **{"compact": partial(upkeep.tend, names=["compact"]), "forget": upkeep.forget},
}
"""Which step brings what."""

STEPS: tuple[tuple[float, Callable[[Cast], None]], ...] = (
    (17, bring_mail),
    (5, strangers),
    (12, doings.say),
    (6, doings.write_filter),
    (8, doings.change_filter),
    (48, meet),
    (8, doings.triage),
    (26, work),
    (14, pass_time),
    (6, race),
    (2, send_somewhere),
    (6, send_badly),
    (2, flood),
    (2, mute_what_waits),
    (3, change_in_flight),
    (6, desk.tidy),
    (2, desk.star_unlisted),
    (8, changes.change_much),
    (2, importance.weigh),
    (2, mailboxes.add_source),
    (8, mailboxes.bring_to_mailbox),
    (3, mailboxes.change_mailbox),
    (0.5, mailboxes.change_source),
    (3, mailboxes.race_pull),
    (4, mailboxes.send_to_mailbox),
    (3, mailboxes.fail_mailboxes),
    (3, mailboxes.act_there),
    (2, letters.write_letter),
    (2, letters.change_letter),
    (2, people.borrow),
    (2, programs.read_on),
    (4, mail_programs.read_mail),
    (2, reminders.remind),
    (3, questions.ask),
    (3, plots.plot),
    (1, doings.unfold),
    (2, doings.show_now),
    (1, doings.undo_acts),
    (2, pieces.watch),
    (4, pieces.trickle),
    (3, pieces.rewrite),
    (2, pieces.overtake),
    (3, pieces.flicker),
    (2, pieces.ripen),
    (3, pieces.change_mind),
    (3, pieces.retag),
    (2, pieces.agree),
    (2, pieces.know),
    (2, aggregates.define),
    (3, pieces.stumble),
    (2, people.rest),
    (1, people.switch),
    (2, people.regroup),
    (0.2, people.leave),
    (3, upkeep.tend),
    (1, upkeep.take_in),
    (1, upkeep.forget),
    (0.3, upkeep.retain),
    (0.5, upkeep.back_up),
    (0.6, upkeep.restore),
    (3, trouble.crash),
    (1, trouble.lose_power),
    (2, trouble.fail_write),
    (2, trouble.fail_statement),
    (1, trouble.step_clock),
    (1, trouble.restart),
    (2, trouble.split),
    (1, trouble.lose_queue),
    (2, trouble.misbehave),
)
"""What may happen, and how often against the others."""


def shares(done: Counter[str]) -> list[float]:
    """Return how likely each step comes next: what is behind its share, the more; so few lack.

    >>> rare = [what.__name__ for _, what in STEPS].index("flicker")
    >>> [int(shares(Counter(flicker=count))[rare] * 100) for count in (0, 1, 2)]
    [300, 30, 3]
    """
    part = done.total() / sum(weight for weight, _ in STEPS)
    return [weight * 10 ** (weight * part - done[what.__name__]) for weight, what in STEPS]


def play(world: World, steps: int, judge: Callable[[], None], *, kills: bool = False) -> None:
    """Play a world for so many steps; ``judge`` is called at each settled point and at the end.

    With ``kills`` the site is to end at one of its writes in most steps.
    """
    cast = Cast(world)
    cast.early = min(upkeep.EARLY, steps * 3 // 4)
    cast.arrive()
    for _ in range(FILTERS):
        doings.write_filter(cast)
    pieces.begin(cast)
    beginnings.begin(cast)
    importance.begin(cast)
    mailboxes.begin(cast)
    done, staged = Counter[str](), SETTLED * scripts.point_of(world.seed)

    def rest(*, at_end: bool = False) -> None:
        _settle(cast, at_end=at_end)
        judge()

    for step in range(1, steps + 1):
        world.history.step = step
        ((_, what),) = cast.lots.choices(STEPS, shares(done))
        done[what.__name__] += 1
        world.history.add("step", name=what.__name__)
        if kills and world.fault == NO_FAULT and cast.lots.random() < OFTEN:
            trouble.crash(cast)
        what(cast)
        books.stir(cast)
        if step % SETTLED == 0 or step == steps:
            if step == staged:
                scripts.play(cast, rest)
            rest(at_end=step == steps)


def _settle(cast: Cast, *, at_end: bool) -> None:
    world = cast.world
    world.fault = NO_FAULT
    world.endpoints.behave()
    _fail_once(cast)
    if cast.lots.random() < 0.5:
        world.pass_time(cast.lots.choice((SECOND, HOUR)))
    mailboxes.tend(cast)
    books.tend(cast)
    if cast.lots.random() < 0.5:
        desk.read_up(cast)
    settle(cast)
    mailboxes.look(cast)
    cast.note_outbox("page")
    letters.note_letters(cast)
    cast.note_filters("settled", set())
    observations.observe(cast, at_end=at_end)
    world.endpoints.mailboxes.observe()
    books.observe(cast)
    looking.look_around(cast, at_end=at_end)


def _fail_once(cast: Cast) -> None:
    """Have something fail that is sent while a world comes to rest: it is sent again."""
    lots = cast.lots
    for kind, after in (("smtp", lots.choice((0, 1, 2, 4))), ("http", 0), ("push", 0)):
        cast.world.endpoints.misbehave(kind, 1, after, lots.choice(("", "hang", "refuse content")))
