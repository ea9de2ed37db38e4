"""Scripts: set pieces in parts, after each of which a world comes to rest, in every other world.

    all first parts ─> a settled point ─> all second parts ─> a settled point ─> all third parts

They have lots of their own: a world without them, and one before them, is as it was.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.simulation.generator import (
    books,
    desk,
    letters,
    mailboxes,
    people,
    questions,
    reminders,
)
from tests.simulation.generator.arrivals import submit
from tests.simulation.generator.cast import Cast
from tests.simulation.generator.pieces import (
    FLICKERING,
    LANES,
    LATER,
    SHARES,
    VOTE,
    enroll,
    run,
    say,
    write,
)
from tests.simulation.world import NO_FAULT

PARTS = 3
"""Parts of the longest script."""

POINTS = (0, 0, 1, 2)
"""At which settled point of a world its scripts are played; 0 is at none."""

DAYS = (4 * 24 * 60,)
"""Minutes until a reminder that is answered before."""

Script = Callable[[Cast], Iterator[None]]


def point_of(seed: int) -> int:
    """Return at which settled point of a world its scripts are played.

    >>> [point_of(seed) for seed in range(1, 9)]
    [2, 2, 1, 2, 2, 2, 0, 2]
    """
    return _lots(seed).choice(POINTS)


def play(cast: Cast, rest: Callable[[], None]) -> None:
    """Play all scripts at once; ``rest`` has the world come to rest, and judges it."""
    cast.world.fault = NO_FAULT
    with _lots_of_their_own(cast):
        playing = [script(cast) for script in cast.lots.sample(SCRIPTS, len(SCRIPTS))]
        for _ in range(PARTS - 1):
            for script in playing:
                next(script, None)
            rest()
        for script in playing:
            next(script, None)


def _lots(seed: int) -> random.Random:
    return random.Random(f"{seed} scripts")


@contextmanager
def _lots_of_their_own(cast: Cast) -> Iterator[None]:
    kept, promised = (cast.lots, cast.programs, cast.mail.lots), cast.mail.promised
    cast.lots = cast.programs = cast.mail.lots = _lots(cast.world.seed)
    cast.mail.promised = []
    try:
        yield
    finally:
        cast.lots, cast.programs, cast.mail.lots = kept
        cast.mail.promised = promised


def split_votes(cast: Cast) -> Iterator[None]:
    """Have one of three people vote for a message: no half of them, in the first of two parts."""
    person = cast.lots.choice(cast.names)
    for text in SHARES:
        write(cast, (text,), person, mail="new", timeliness="at once")
    enroll(cast)
    yield
    row = _bring(cast)
    numbers = (-1.0, *cast.lots.sample((-1.0, 1.0), 2))
    for owner, number in zip(("Jones", "terry", "bill"), numbers, strict=True):
        say(cast, row, VOTE | {"number": number}, owner)
        run(cast, "filters.tick")


def take_letter_back(cast: Cast) -> Iterator[None]:
    """Have a program take a letter back that it has just sent."""
    yield
    letters.send_and_take_back(cast, cast.lots.choice(cast.names))


def mute_before_it_leaves(cast: Cast) -> Iterator[None]:
    """Have somebody mute a thread that lies in their mailbox, and it leave the live list after."""
    rested = [name for name in cast.names if not any(map(cast.people[name].get, people.AWAKE))]
    person = cast.lots.choice(rested or cast.names)
    write(cast, (FLICKERING,), person, mode="live", mail="new", timeliness="at once")
    mailboxes.put_into_mailbox(cast, person, often=1)
    enroll(cast)
    row = _bring(cast)
    yield
    desk.act(cast, person, "mute", [row["msgid"]])
    say(cast, row, LATER)
    run(cast, *LANES, "filters.tick")


def answer_before_reminder(cast: Cast) -> Iterator[None]:
    """Have somebody be reminded of three messages, snooze one by hand, and others answer them.

    One is answered before anybody has looked whether it is, the others before they are due.
    """
    person, other = cast.lots.sample(cast.names, 2)
    write(cast, ("m.size > 0",), person, mail="new", timeliness="at once")
    enroll(cast)
    rows = [_bring(cast) for _ in range(3)]
    soon, by_hand, early = (row["msgid"] for row in rows)
    yield
    for msgid in (soon, by_hand, early):
        until = letters.minute_of(cast, person, DAYS)
        sent: dict[str, Any] = {"id": msgid, "until": "chosen", "chosen": until, "every": ""}
        reminders.ask_for(cast, person, sent)
    desk.act(cast, person, "snooze", [by_hand])
    questions.bring(cast, other, person, ["public"], inreplyto=early)
    yield
    for msgid in (soon, by_hand):
        questions.bring(cast, other, person, ["public"], inreplyto=msgid)
    run(cast, *LANES, "filters.tick", "filters.bring_back")


SCRIPTS: tuple[Script, ...] = (
    split_votes,
    take_letter_back,
    mute_before_it_leaves,
    answer_before_reminder,
    books.share,
)


def _bring(cast: Cast) -> dict[str, Any]:
    """Have the first message of a thread come that everybody may see, and return it."""
    (row,) = cast.mail.letter(cast.world.now, ["public"], body=questions.SAYS)
    submit(cast, [row])
    run(cast, "filters.tick")
    return row
