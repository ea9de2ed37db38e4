"""Judge a history: every law at every settled point of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.simulation.auditor.acted import Acted
from tests.simulation.auditor.acts import Acts
from tests.simulation.auditor.asides import Asides
from tests.simulation.auditor.beats import judge_beats
from tests.simulation.auditor.books import Books
from tests.simulation.auditor.borrowing import judge_borrowing
from tests.simulation.auditor.boxes import Boxes
from tests.simulation.auditor.budgets import Budgets
from tests.simulation.auditor.came_in import Arrivals
from tests.simulation.auditor.cursors import Readers
from tests.simulation.auditor.deliveries import Deliveries
from tests.simulation.auditor.endings import judge_ending
from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.folds import Folds
from tests.simulation.auditor.importance import Importance
from tests.simulation.auditor.letters import Letters
from tests.simulation.auditor.lists import judge_lists
from tests.simulation.auditor.lives import Lives
from tests.simulation.auditor.mail_programs import MailPrograms
from tests.simulation.auditor.marks import Marks
from tests.simulation.auditor.matching import judge_matches
from tests.simulation.auditor.opinions import Opinions
from tests.simulation.auditor.owing import judge_owing
from tests.simulation.auditor.past import Past
from tests.simulation.auditor.phrases import judge_phrases
from tests.simulation.auditor.put_off import judge_put_off
from tests.simulation.auditor.releases import Releases
from tests.simulation.auditor.reminders import Reminders
from tests.simulation.auditor.shelves import Desks
from tests.simulation.auditor.story import Entry, Known, Point, audiences_of, points
from tests.simulation.auditor.tags import Tags
from tests.simulation.auditor.threads import judge_threads
from tests.simulation.auditor.timelines import Timelines
from tests.simulation.auditor.views import judge_views
from tests.simulation.auditor.wishes import judge_wishes


class Auditor:
    """Follows one history; what was judged once is not judged again."""

    def __init__(self) -> None:
        self.known = Known()
        self.lives = Lives(self.known)
        self.arrivals = Arrivals()
        self.desks = Desks(self.known)
        self.acts = Acts(self.desks)
        self.reminders = Reminders(self.desks)
        self.deliveries = Deliveries(self.known, self.desks)
        self.budgets = Budgets(self.known)
        self.letters = Letters()
        self.acted = Acted()
        self.boxes = Boxes(self.known, self.desks)
        self.timelines = Timelines(self.known)
        self.releases = Releases()
        self.opinions = Opinions()
        self.books = Books()
        self.importance = Importance(self.known, self.timelines)
        self.asides = Asides()
        self.readers = Readers(self.known)
        self.folds = Folds(self.known, self.desks)
        self.tags = Tags(self.known)
        self.mail_programs = MailPrograms(self.known, self.desks)
        self.marks = Marks(self.known, self.desks)
        self.past = Past(self.known, self.timelines)
        self.heard = 0

    def judge(self, entries: list[Entry]) -> list[Finding]:
        """Return what is wrong at the settled points that have come since the last call.

        ``entries`` is the whole history so far; it ends with what was seen at a settled point.
        """
        new, self.heard = entries[self.heard :], len(entries)
        return [finding for point in points(new) for finding in self._judge(point)]

    def _judge(self, point: Point) -> Iterator[Finding]:
        before = {table: set(rows) for table, rows in self.known.rows.items()}
        newest = self.known.newest
        self.known.look(point)
        self.timelines.looked(self._has_another_past(before, newest))
        could_see = self._could_see(point)
        self.lives.follow(point)
        self.desks.follow(point)
        self.reminders.follow(point, self.lives.lives)
        yield from self.arrivals.judge(point, self.known)
        yield from judge_threads(point, self.known)
        yield from judge_matches(point, self.lives.lives, self.known, self.timelines)
        yield from judge_borrowing(point, self.lives.lives)
        yield from judge_owing(point, self.lives.lives, self.known)
        yield from self.acts.judge(point, self.lives.lives)
        yield from judge_lists(point, self.lives.lives, self.known, self.desks)
        yield from self.folds.judge(point, self.lives.lives)
        yield from self.tags.judge(point, self.lives.lives)
        yield from self.mail_programs.judge(point, self.lives.lives)
        yield from self.marks.judge(point, self.lives.lives)
        yield from judge_views(point, self.lives.lives, self.known, self.desks, self.timelines)
        yield from self.past.judge(point)
        yield from self.deliveries.judge(point, self.lives.lives, could_see)
        yield from self.budgets.judge(point, self.deliveries)
        yield from self.acted.judge(point)
        yield from self.boxes.judge(point, self.lives.lives, could_see)
        yield from self.letters.judge(point)
        yield from self.releases.judge(point, self.lives.lives, self.deliveries)
        sent_to = [
            *(route.entry for route in self.deliveries.routes.values()),
            *(place.entry for place in self.boxes.places.values()),
        ]
        latest = self.releases.latest
        yield from judge_put_off(point, self.known, sent_to, latest, self.budgets)
        yield from self.opinions.judge(point, self.known)
        yield from self.books.judge(point, self.known)
        yield from self.importance.judge(point, self.lives.lives, self.desks)
        yield from self.asides.judge(point)
        yield from self.readers.judge(point, self.lives.lives)
        yield from judge_phrases(point)
        yield from judge_wishes(point)
        yield from judge_beats(point)
        yield from judge_ending(point)
        owners = {key: life.entry["owner"] for key, life in self.lives.lives.items()}
        self.desks.look(point, owners)

    def _could_see(self, point: Point) -> dict[str, frozenset[str]]:
        """Return all that each person could see from the last point on, at some time."""
        could_see = {name: self.known.audiences(name) for name in self.known.people}
        for entry in point.entries:
            if entry["what"] == "person":
                name = entry["name"]
                could_see[name] = could_see.get(name, frozenset()) | audiences_of(entry, name)
        return could_see

    def _has_another_past(self, before: dict[str, set[tuple[str, str]]], newest: int) -> bool:
        """Return whether rows are gone, or are there of a time when they were not: of a backup."""
        return any(
            keys - rows.keys()
            or any(row["ts"] <= newest for key, row in rows.items() if key not in keys)
            for keys, rows in ((before[table], rows) for table, rows in self.known.rows.items())
        )


def judge(entries: Iterable[Entry]) -> list[Finding]:
    """Return what is wrong with a history."""
    return Auditor().judge(list(entries))
