"""Which features met in a world: what a filter says, whether it is live, and what happened to it.

history ─ filters that ran ─> (phrase or construct, live or kept, what happened meanwhile) ─> table

A filter meets what happens while it runs: to mail that its owner may see, to itself, to the site.
All was judged after that.  Each two of the three have to meet somewhere.  Phrases come from the
catalogue, constructs from the nodes of the language, events from the histories: a new one comes
into the table by itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, get_args

Entry = Mapping[str, Any]
Event = tuple[str, set[int]]
"""What happened, and the filters that met it."""

MODES = ("kept", "live")
DAY = 86_400_000_000

EVENTS = (
    *("mail", "reply", "late reply", "reply before its parent", "old mail", "forged copy"),
    *("other audience", "vote", "tag", "retraction", "edit", "mode", "timeliness", "pause"),
    *("resume", "done", "snooze", "mute", "undo", "matched", "crash", "restart", "lost queue"),
    *("endpoint", "clock step", "digest", "forward", "webhook", "push", "compact"),
    *("forget", "person changed"),
)
"""What has to meet every phrase and construct, and live filters as well as those that keep."""

OF_MODES = ("recompiled", "left the list", "backup", "restore", "mailbox", "mailbox copy")
"""What has to meet live filters, or those that keep, and not every phrase."""

_COPIES = {"mailbox": "mailbox copy"}
"""How a delivery is called whose kind has the name of something else."""

_ASKED = {
    **{"remind": "reminder", "unfold": "unfolded", "acts_undone": "acts undone"},
    **{"shown_now": "shown now", "imap": "IMAP", "jmap": "JMAP"},
}
"""How it is called what people ask for beside acts."""

SUGAR = ("Between", "Braces", "InFilter", "NotTrue", "Truth")
"""Nodes that no canonical text has, or that decide nothing."""

CANNOT_MEET = {
    ("kept", "left the list"): "a filter that keeps lets nothing go",
}
"""Pairs that cannot be, and why."""


def features() -> list[str]:
    """Return all phrases of the catalogue and all constructs of the language."""
    from tapestry.query.phrases.catalogue import KINDS
    from tapestry.query.tree import nodes

    conditions = {kind.__name__ for kind in get_args(nodes.Condition)} - {*SUGAR}
    terms = {kind.__name__ for kind in get_args(nodes.Term)} - {"Column", "Literal", "Reached"}
    constructs = sorted({*conditions, *terms, "Aggregate"})
    return [*(f"phrase:{name}" for name in KINDS), *(f"tql:{name}" for name in constructs)]


def wanted(features_of_language: Iterable[str]) -> set[str]:
    """Return the pairs that have to meet: feature and mode, feature and event, mode and event."""
    pairs = {(mode, event) for mode in MODES for event in (*EVENTS, *OF_MODES)}
    for feature in features_of_language:
        pairs |= {(feature, other) for other in (*MODES, *EVENTS)}
    return {pair_of(*pair) for pair in pairs - CANNOT_MEET.keys()}


def pair_of(*parts: str) -> str:
    """Return the name of a pair, or of a feature, mode and event that met."""
    return " | ".join(parts)


def met(entries: Iterable[Entry]) -> set[str]:
    """Return what met in a history: each feature, mode and event together."""
    scene = Scene()
    return {pair_of(*triple) for entry in entries for triple in scene.meetings(entry)}


def pairs_of(triples: Iterable[str]) -> set[str]:
    """Return the pairs in features, modes and events that met.

    >>> sorted(pairs_of(["tql:And | live | vote"]))
    ['live | vote', 'tql:And | live', 'tql:And | vote']
    """
    parts = (triple.split(" | ") for triple in triples)
    return {pair_of(*pair) for triple in parts for pair in combinations(triple, 2)}


def missing(triples: Iterable[str]) -> list[str]:
    """Return the pairs that have to meet, and did not."""
    return sorted(wanted(features()) - pairs_of(triples))


@dataclass
class Scene:
    """What is there in a history so far."""

    filters: dict[int, Entry] = field(default_factory=dict)
    audiences: dict[str, set[str]] = field(default_factory=dict)
    destinations: dict[int, Entry] = field(default_factory=dict)
    came: dict[str, int] = field(default_factory=dict)
    awaited: set[str] = field(default_factory=set)

    def meetings(self, entry: Entry) -> Iterator[tuple[str, str, str]]:
        """Take in an entry, and yield what met in it: features, modes and events."""
        for event, keys in self._events(entry):
            for told in map(self.filters.__getitem__, keys):
                for feature in told.get("features") or ():
                    yield feature, MODES[bool(told["live"])], event

    def running(self) -> set[int]:
        """Return the filters that run."""
        return {key for key, told in self.filters.items() if told.get("active", True)}

    def of(self, person: str) -> set[int]:
        """Return the filters of a person that run."""
        return {key for key in self.running() if self.filters[key]["owner"] == person}

    def _events(self, entry: Entry) -> Iterator[Event]:
        match entry["what"]:
            case "person":
                name = entry["name"]
                groups = (f"group:{group}" for group in entry["groups"])
                if name in self.audiences:
                    yield "person changed", self.of(name)
                self.audiences[name] = {"public", f"user:{name}", *groups}
            case "filter":
                self.filters[entry["key"]] = entry
            case "filter_changed":
                yield from self._changed(entry)
            case "submitted":
                for row in entry["rows"]:
                    for event in self._arrival(entry, row):
                        yield event, self._seeing(row["audience"])
            case "act":
                yield entry["kind"], self.of(entry["person"])
            case "remind" | "unfold" | "acts_undone" | "shown_now" | "imap" | "jmap":
                yield _ASKED[entry["what"]], self.of(entry["person"])
            case "slow":
                yield "hourly run", {row["key"] for row in entry["rows"]} & self.filters.keys()
            case "steps":
                yield "cursor", {entry["filter"]} & self.filters.keys()
            case "destination":
                self.destinations[entry["key"]] = entry
            case "received":
                yield from self._received(entry)
            case "fault" if "at" not in entry:  # else it is only planned
                kind = entry["kind"].removeprefix("fired ").replace("_", " ")
                yield "crash" if kind == "crashed" else kind, self.running()
            case "upkeep":
                yield entry["kind"], self.running()
            case "seen" if entry["kind"] == "matches":
                found: dict[str, set[int]] = defaultdict(set)
                for row in entry["rows"]:
                    found["left the list" if row["retracted_at"] else "matched"].add(row["filter"])
                for event, keys in found.items():
                    yield event, keys & self.filters.keys()

    def _changed(self, entry: Entry) -> Iterator[Event]:
        key = entry["key"]
        if entry["how"] == "delete":
            self.filters.pop(key, None)
            return
        self.filters[key] = {**self.filters.get(key, {}), **entry}
        if entry["how"] != "settled" and not entry.get("same"):
            yield entry["how"], {key}

    def _arrival(self, entry: Entry, row: Entry) -> Iterator[str]:
        if entry["table"] == "annotations":
            yield str(row["kind"])
            return
        yield "mail" if entry.get("origin") == "append" else str(entry.get("origin"))
        msgid, parent, now = row["msgid"], row.get("inreplyto"), entry["now"]
        if row.get("copy"):
            yield "forged copy"
        elif msgid in self.came:
            yield "other audience"
        if msgid in self.awaited:
            yield "parent after its reply"
        if parent and parent not in self.came:
            self.awaited.add(parent)
            yield "reply before its parent"
        elif parent:
            yield "late reply" if now - self.came[parent] > DAY else "reply"
        if row.get("received") is not None and row["received"] < now - DAY:
            yield "old mail"
        self.came.setdefault(msgid, now)

    def _received(self, entry: Entry) -> Iterator[Event]:
        place = entry.get("recipient") or entry.get("path") or ""
        for told in self.destinations.values():
            if entry.get("accepted", True) and place and _place(told).endswith(place):
                mine = self.of(told["person"])
                chosen = mine if told["filters"] is None else mine & {*told["filters"]}
                yield _COPIES.get(told["kind"], told["kind"]), chosen

    def _seeing(self, audience: str) -> set[int]:
        seeing = {name for name, audiences in self.audiences.items() if audience in audiences}
        return {key for key in self.running() if self.filters[key]["owner"] in seeing}


def _place(told: Entry) -> str:
    return str(told.get("address") or told.get("url") or "")


def summary(triples: Collection[str]) -> list[str]:
    """Return the rows of a table: how many features met each event, in filters of each mode."""
    number = len(features())
    there = Counter(tuple(triple.split(" | ")[1:]) for triple in triples)
    pairs = Counter(pair.split(" | ")[-1] for pair in pairs_of(triples) if ":" in pair)
    others = {event for _, event in there} - {*EVENTS}
    lines = []
    for event in (*EVENTS, *sorted(others)):
        of_modes = " | ".join(str(there[mode, event]) for mode in MODES)
        lines.append(f"| {event} | {pairs[event]} of {number} | {of_modes} |")
    return lines
