"""Budgets: who is over one is slower, nobody else is, and who is at one is given no more.

    what a destination was sent in 24 hours ─ as often as may be ─> the rest at full hours, together
    seconds of an hour ─ all used ─> filters that run by themselves run once an hour

That nothing is lost of what comes later is judged as of all that is sent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.simulation.auditor.deliveries import Deliveries, Route
from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.story import Entry, Known, Point, audiences_of
from tests.simulation.auditor.timing import shown_at
from tests.simulation.auditor.transmissions import Transmission, read_transmission

LAW = "budgets"
DAY = 86_400_000_000
NO_LIMIT = 1 << 62

RANGES = ("digest", "push", "webhook")
"""Ways by which one delivery is one thing that is sent."""

OVER = "after the deliveries of a day"
"""What a digest says that was to be forwarded."""

Row = dict[str, Any]


class Budgets:
    """What people may use, and how often each destination was sent something.

    ``sent`` are the first instants of what was sent, by its key; ``tried`` those of every try;
    ``floods`` are what was tried as one digest for a budget.
    """

    def __init__(self, known: Known) -> None:
        self.known = known
        self.rules: dict[str, dict[str, int]] = defaultdict(dict)
        self.groups: dict[str, set[frozenset[str]]] = {}
        self.sent: dict[int, dict[str, int]] = defaultdict(dict)
        self.tried: dict[int, list[int]] = defaultdict(list)
        self.floods: set[tuple[int, str]] = set()

    def of(self, person: str, kind: str) -> list[int]:
        """Return what a person may use of a kind, in each of the groups that they were in."""
        own = self.rules[f"user:{person}"].get(kind)
        usual = self.rules[""].get(kind, NO_LIMIT)
        found = []
        for audiences in self.groups.get(person, {frozenset()}):
            shared = [self.rules[a][kind] for a in audiences if kind in self.rules.get(a, {})]
            found.append(own if own is not None else max(shared, default=usual))
        return found

    def may_be_over(self, person: str, destination: Entry, now: int) -> bool:
        """Return whether what a destination is sent may have to wait for a full hour."""
        often = len([at for at in self.tried[destination["key"]] if at > now - DAY])
        mailbox = destination["kind"] == "mailbox"  # what lies there is judged by boxes.py
        most = min(self.of(person, "deliveries"))
        return most <= often or (mailbox and most < NO_LIMIT)

    def judge(self, point: Point, deliveries: Deliveries) -> Iterator[Finding]:
        """Judge all that happened up to a point."""
        rows = {row["sequence"]: row for row in point.rows("matches") or []}
        for entry in point.entries:
            match entry["what"]:
                case "budgets":
                    self._read(entry["rules"])
                case "person":
                    name = entry["name"]
                    self.groups.setdefault(name, set()).add(audiences_of(entry, name))
                case "fault" | "upkeep" if entry["kind"] in ("clock_step", "restore"):
                    self.sent.clear()
                case "slow":
                    yield from self._slow(point, entry)
                case "received" if sent := read_transmission(entry):
                    if route := deliveries.routes.get(sent.uid):
                        yield from self._sent(point, route, sent, rows)
        yield from self._made(point)
        for name in self.known.people:
            self.groups[name] = {self.known.audiences(name)}

    def _read(self, rules: str) -> None:
        for rule in rules.split():
            named, _, number = rule.rpartition("=")
            whose, _, kind = named.rpartition(":")
            self.rules[whose][kind] = int(number)

    def _slow(self, point: Point, entry: Entry) -> Iterator[Finding]:
        """Only filters of those wait for another hour who may use so many seconds, and no more."""
        for row in entry["rows"]:
            if min(self.of(row["owner"], "seconds")) == NO_LIMIT:
                words = f"filter {row['key']} of {row['owner']} was run up to {when(row['since'])}"
                yield Finding(LAW, f"{words}, and waits, though they are over nothing", point.step)

    def _sent(
        self,
        point: Point,
        route: Route,
        sent: Transmission,
        rows: dict[int | None, Row],
    ) -> Iterator[Finding]:
        """Judge one delivery, by what was sent there before: it is confirmed by then."""
        key, person, now = route.entry["key"], route.entry["person"], sent.entry["now"]
        for_budget = sent.kind == "flood" and OVER in sent.entry["payload"]["text"]
        is_again = (key, sent.key) in self.floods  # it keeps the words of its first try
        if for_budget and not is_again and not self.may_be_over(person, route.entry, now):
            words = f"{sent.key} comes as one digest {OVER}, and {person} had not so many"
            yield Finding(LAW, words, point.step)
        if for_budget:
            self.floods.add((key, sent.key))
        self.tried[key].append(now)
        if not sent.entry.get("accepted", True) or sent.kind not in RANGES:
            return
        before = self.sent[key]
        if sent.key not in before:
            often = len([at for at in before.values() if now - DAY < at <= now])
            most = max(self.of(person, "deliveries"))
            if often >= most and self._is_early(route, sent, rows, max(before.values(), default=0)):
                words = f"{sent.key} came at {when(now)}, and not at the full hour: there were"
                yield Finding(LAW, f"{words} {often} in 24 hours, of {most}", point.step)
        if sent.number or any(item.op == "insert" for item in sent.items):
            before.setdefault(sent.key, now)

    def _is_early(
        self, route: Route, sent: Transmission, rows: dict[int | None, Row], last: int
    ) -> bool:
        """Return whether all that was sent was shown after the full hour, as was the last time.

        What was shown at an instant to come waits for no hour: the clock was set back since.
        """
        person, now = self.known.people.get(route.entry["person"], {}), sent.entry["now"]
        hour = {"time_zone": person.get("time_zone")}
        shown = [
            max(row["shown_at"], row["retracted_at"] or 0)
            for position, row in rows.items()
            if position is not None and sent.after < position <= sent.until
        ]
        if not shown or max(shown) > now:
            return False
        return all(shown_at("hourly", hour, at) > now for at in (*shown, last))

    def _made(self, point: Point) -> Iterator[Finding]:
        """Nobody who has made a filter has more of them than they may."""
        if any(entry.get("kind") == "restore" for entry in point.entries):
            return
        made = {entry["owner"] for entry in point.entries if entry["what"] == "filter"}
        have = Counter(row["owner"] for row in point.rows("filters") or [])
        for person in sorted(made):
            most = max(self.of(person, "filters"))
            if have[person] > most:
                words = f"{person} has {have[person]} filters, and may have {most}"
                yield Finding(LAW, words, point.step)
