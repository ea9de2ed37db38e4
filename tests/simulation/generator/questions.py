"""Questions in person: of what the lists of the first day say who owes an answer, and to whom."""

from __future__ import annotations

from tests.simulation.generator.arrivals import submit
from tests.simulation.generator.cast import PEOPLE, Cast
from tests.simulation.settling import run_task
from tests.simulation.tasks import Task
from tests.simulation.world import DAY, HOUR, MINUTE

ASKS, SAYS = "is it x?", "b a"


def ask(cast: Cast) -> None:
    """Have somebody ask somebody, who is away, or answers, at once or after days, or never."""
    lots = cast.lots
    one, other = lots.sample(cast.names, 2)
    for person in (one, other):
        cast.request(person, "post", "/filters/ready-made/")
    cast.note_filters("recompiled", set())
    audiences = lots.choice((["public"], [f"user:{one}", f"user:{other}"]))
    question = bring(cast, one, other, audiences, body=ASKS)
    if lots.random() < 0.5:
        bring(cast, other, one, audiences, inreplyto=question, automatic="reply")
    if lots.random() < 0.3:
        bring(cast, one, other, audiences, inreplyto=question)
    cast.world.pass_time(lots.choice((MINUTE, HOUR, 2 * DAY, 4 * DAY)))
    run_task(cast.world, Task("filters.tick"))
    if lots.random() < 0.5:
        bring(cast, other, one, audiences, inreplyto=question)


def bring(cast: Cast, sender: str, to: str, audiences: list[str], **said: str) -> str:
    """Have a letter come to the audiences, with no copies and of no list; return its Message-ID."""
    said = {"body": SAYS, **said, "sender": PEOPLE[sender]}
    rows = cast.mail.letter(cast.world.now, audiences, to=[PEOPLE[to]], **said)
    submit(cast, rows)
    return str(rows[0]["msgid"])
