"""Two worlds: a calm world, and the same without the mail that one person may not see.

    generator ─ orders ─> the first world ─────────────────────────────────┐
        └─ the same at the same instants, but for what is hidden ─> the second ─┴─ compared

No faults: they strike at the n-th write or answer, which is another one in the second world.
"""

from __future__ import annotations

import html
import re
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.simulation import looking, observations
from tests.simulation.auditor.two_worlds import LAW, differences
from tests.simulation.generator import (
    arrivals,
    beginnings,
    changes,
    desk,
    doings,
    importance,
    people,
    pieces,
    schedule,
    upkeep,
)
from tests.simulation.generator.cast import Cast
from tests.simulation.judging import wrong
from tests.simulation.playing import Result
from tests.simulation.settling import run_task, settle
from tests.simulation.tasks import Task
from tests.simulation.world import HOUR, SECOND, World

STEPS: tuple[tuple[float, Callable[[Cast], object]], ...] = (
    (14, arrivals.bring_mail),
    (6, schedule.strangers),
    (12, doings.say),
    (4, doings.write_filter),
    (6, doings.change_filter),
    (8, doings.triage),
    (14, schedule.work),
    (8, schedule.pass_time),
    (2, schedule.send_somewhere),
    (4, desk.tidy),
    (4, changes.change_much),
    (3, importance.weigh),
    (4, people.borrow),
    (4, pieces.watch),
    (3, pieces.trickle),
    (2, pieces.rewrite),
    (2, pieces.ripen),
    (2, pieces.change_mind),
    (2, pieces.retag),
    (1, people.rest),
    (1, upkeep.tend),
)
"""What happens in a calm world, and how often against the others: no fault, nobody leaves."""

SETTLED = 20
"""Steps between two settled points."""


@dataclass(slots=True)
class Order:
    """What the site was ordered to do, and said; before it were so many entries of the history.

    ``step`` is which of a person's steps of triage an undo takes back.
    """

    at: int
    now: int
    steady: int
    do: str
    what: dict[str, Any]
    step: int = -1
    reply: Any = None


class _Recorded(World):
    """A world that keeps what it orders."""

    def __init__(self, *made: Any) -> None:
        super().__init__(*made)
        self.orders: list[Order] = []

    def order(self, do: str, **what: Any) -> Any:
        order = Order(len(self.history.entries), self.now, self.steady, do, what)
        if do == "request" and what["path"].startswith(_UNDO):
            steps = desk.triage_steps(self, what["user"])
            step = what["path"].removeprefix(_UNDO).strip("/")
            order.step = steps.index(step) if step in steps else -1  # it came to nothing
        self.chance = _chance(self.seed, len(self.orders))
        self.orders.append(order)
        order.reply = super().order(do, **what)
        return order.reply


_UNDO = "/triage/undo/"


def _chance(seed: int, number: int) -> str:
    """Return what is drawn from in an order of both worlds: which of two votes is named, say."""
    return f"{seed} order {number}"


def play_twins(
    seed: int,
    steps: int,
    directory: Path,
    template: Path,
    plant: Callable[[], None] | None = None,
    **_: Any,
) -> Result:
    """Play a calm world and its twin; what one person is shown or sent may not differ."""
    started = time.perf_counter()
    result = Result(seed, steps)
    places = [directory / f"{name}-{seed}-{id(plant):x}" for name in ("world", "twin")]
    first = _Recorded(seed, places[0], template, plant)
    second = World(seed, places[1], template, plant)
    try:
        cast = _play(first, steps)
        person = cast.names[seed % len(cast.names)]
        twin = _Twin(second, person, cast.audiences_of(person))
        twin.play(first)
        entries = first.history.entries
        said = [wrong(entry) for entry in (*entries, *second.history.entries)]
        result.findings = [sentence for sentence in said if sentence] or [
            *map(str, differences(entries, second.history.entries, person)),
            *twin.words,
        ]
        result.reached = [entry["name"] for entry in entries if entry["what"] == "reached"]
        result.counts = {"orders": len(first.orders), "hidden": twin.hidden, "read": twin.read}
    except Exception:
        result.findings.append(f"the twins failed: {traceback.format_exc()}")
    finally:
        first.close()
        second.close()
    result.seconds = time.perf_counter() - started
    return result


class _Secretive(Cast):
    """People who are written to by themselves as often as not, and have no programs."""

    def has_program(self) -> bool:
        return False

    @property
    def audiences(self) -> list[str]:
        own = [f"user:{name}" for name in self.names]
        return ["public"] * len(own) + own + ["group:x"]


def _play(world: World, steps: int) -> Cast:
    cast = _Secretive(world)
    cast.arrive()
    for _ in range(schedule.FILTERS):
        doings.write_filter(cast)
    pieces.begin(cast)
    beginnings.begin(cast)
    importance.begin(cast)
    weights = [weight for weight, _ in STEPS]
    for step in range(1, steps + 1):
        world.history.step = step
        ((_, what),) = cast.lots.choices(STEPS, weights)
        what(cast)
        if step % SETTLED == 0 or step == steps:
            world.pass_time(cast.lots.choice((SECOND, HOUR)))
            settle(cast)
            cast.note_outbox("page")
            cast.note_filters("settled", set())
            observations.observe(cast)
            for person in cast.names:
                looking.search(cast, person)
                looking.ask_for_letters(cast, person)
    return cast


class _Twin:
    """The second world, in which a person sees these audiences, and nobody has other mail."""

    def __init__(self, world: World, person: str, audiences: list[str]) -> None:
        self.world, self.person, self.audiences = world, person, audiences
        self.words: list[str] = []
        self.hidden = self.read = 0
        self.answer: Any = None

    def play(self, first: _Recorded) -> None:
        """Have done here what was done in the first world, each at its instant."""
        entries, told = first.history.entries, 0
        for number, order in enumerate(first.orders):
            for entry in entries[told : order.at]:
                self._tell(entry)
            told = order.at
            self.world.now = max(self.world.now, order.now)
            self.world.steady = max(self.world.steady, order.steady)
            self.world.history.now = self.world.now
            self.world.chance = _chance(first.seed, number)
            self.answer = self._do(order)
            self._compare(order)
        for entry in entries[told:]:
            self._tell(entry)

    def _do(self, order: Order) -> Any:
        what = dict(order.what)
        match order.do:
            case "append" | "annotate":
                name = "messages" if order.do == "append" else "rows"
                what[name] = [row for row in what[name] if row["audience"] in self.audiences]
                self.hidden += len(order.what[name]) - len(what[name])
                return self.world.order(order.do, **what) if what[name] else None
            case "task" if what["task_id"] is not None:
                self._run_waiting(Task(what["name"], what["args"], what["kwargs"]))
                return None
            case "request" if order.step >= 0:
                steps = desk.triage_steps(self.world, what["user"])
                if order.step >= len(steps):
                    return None
                what["path"] = f"{_UNDO}{steps[order.step]}/"
        return self.world.order(order.do, **what)

    def _run_waiting(self, wanted: Task) -> None:
        """Run the task of the queue that was run in the first world; its keys may be others."""
        tasks = [task for task in self.world.queue.tasks if task.name == wanted.name]
        same = [task for task in tasks if task.args == wanted.args]
        for task in (same or tasks)[:1]:
            self.world.queue.tasks.remove(task)
            run_task(self.world, task)

    def _tell(self, entry: dict[str, Any]) -> None:
        """Write down here what is told of the first world, as it is in this one."""
        history, world = self.world.history, self.world
        history.step = entry["step"]
        told = {name: value for name, value in entry.items() if name not in ("step", "now")}
        match told:
            case {"what": "filter" | "settled"}:
                history.add(**told)
            case {"what": "destination", "uid": _}:
                query = "SELECT uid FROM delivery_destination WHERE id = ?"
                for row in world.select(query, told["key"]):
                    history.add(**{**told, **row})
            case {"what": "seen", "kind": "matches"}:
                history.add(**{**told, "rows": world.select(observations.MATCHES)})
            case {"what": "seen", "kind": "page"} if self.answer is not None:
                found = observations.LISTED.findall(self.answer["text"])
                msgids = [html.unescape(msgid) for msgid in found]
                if "lines" in told:
                    told["lines"] = observations.lines_of(self.answer["text"])
                history.add(**{**told, "msgids": msgids, "status": self.answer["status"]})

    def _compare(self, order: Order) -> None:
        """Have all words that the person reads on a page be the same."""
        what = order.what
        if order.do != "request" or what["method"] != "get" or what["user"] != self.person:
            return
        self.read += 1
        here, there = (list(_words(reply)) for reply in (self.answer, order.reply))
        if here != there:
            apart = [f"{a!r} for {b!r}" for a, b in zip(here, there, strict=False) if a != b]
            said = "; ".join(apart[:5]) or f"{len(here)} lines for {len(there)}"
            step = self.world.history.step
            self.words.append(f"step {step}: {LAW}: {self.person} reads {said} on {what['path']}")


def _words(reply: Any) -> Iterator[str]:
    """Yield the lines of a page that somebody reads, with its status before them."""
    yield str(reply and reply["status"])
    text = re.sub(r"(?s)<(script|style|template)\b.*?</\1>", "", reply["text"] if reply else "")
    for line in re.split(r"<[^>]*>", text):
        if words := " ".join(html.unescape(line).split()):
            yield words
