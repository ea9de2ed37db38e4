"""What people are told of the past, and why a message is in a filter.

a list as of an instant ─> what its page listed when it was looked at then, in the same order
why ─> a message matches now if the oracle says so, over what the asker may see
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.spans import holds
from tests.simulation.auditor.story import Entry, Known, Point
from tests.simulation.auditor.timelines import Timelines

LAW = "as of"
WHY = "why"
PAGE = 50

Look = tuple[str, str, str, int]
"""Who looked at which page of which name, and when."""


@dataclass(slots=True)
class Past:
    """The pages that were looked at, as long as nothing took away what was on them.

    An instant that comes twice, as the clock was set back, has two answers: none is kept of it.
    """

    known: Known
    timelines: Timelines
    looks: dict[Look, Entry] = field(default_factory=dict)
    latest: int = 0

    def judge(self, point: Point) -> Iterator[Finding]:
        """Judge what was told of the past and of filters at a point."""
        for entry in point.entries:
            self._forget(entry)
            self.latest = max(self.latest, entry["now"])
        new = (look for look in point.seen.get("page", []) if look["now"] >= self.latest)
        for look in new:
            self.looks[look["person"], look["page"], look["name"], look["now"]] = look
        for look in point.seen.get("as_of", []):
            yield from self._judge_past(point, look)
        for look in point.seen.get("why", []):
            yield from self._judge_why(point, look)

    def _forget(self, entry: Entry) -> None:
        """Drop looks after which something happened that the record does not keep, or at once."""
        what, how = entry["what"], entry.get("how", entry.get("kind"))
        if what == "person":
            self.looks = {key: one for key, one in self.looks.items() if key[0] != entry["name"]}
        elif (what == "filter_changed" and how in ("delete", "forget")) or (
            what in ("fault", "upkeep") and how in ("clock_step", "restore", "forget", "restored")
        ):
            self.looks.clear()
        else:
            self.looks = {key: one for key, one in self.looks.items() if key[3] < entry["now"]}

    def _judge_past(self, point: Point, told: Entry) -> Iterator[Finding]:
        name = told["person"], told["page"], told["name"], told["at"]
        look = self.looks.get(name)
        if look is None:
            return
        lines, was, shown = look.get("lines"), look["msgids"], told["msgids"]
        if max(len(was), len(shown)) >= PAGE:
            return
        if lines is not None:  # those of a conversation stand together there
            was, shown = sorted(msgid for line, _ in lines for msgid in line), sorted(shown)
        if was != shown:
            said = f"the {told['page']} {told['name']} of {told['person']} as of {told['at']}"
            text = f"{said} shows {', '.join(shown)}, and it was {', '.join(was)}"
            yield Finding(LAW, text, point.step)

    def _judge_why(self, point: Point, told: Entry) -> Iterator[Finding]:
        clock = point.one("clock")
        at = max(told["now"], clock["last"] if clock else 0)
        found = self.timelines.of(told["tql"], self.known.audiences(told["person"]))
        wanted = told["msgid"] in found and holds(found[told["msgid"]], at)
        if wanted is not told["matches"]:
            said = "matches" if told["matches"] else "does not match"
            text = f"{told['person']} is told that {told['msgid']} {said} {told['tql']}"
            yield Finding(WHY, text, point.step)
