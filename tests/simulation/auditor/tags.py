"""Tags that filters give: each in private, as long as the match that it was given for stands.

match of a filter that tags ─ new, since it began to ─> its act stands
an act stands of a message ─> its owner's tag is there, for them alone, once for each filter at most
none stands ─> the tag was taken back

A filter that was deleted, changed or forgot what it found may have left its tags, and mail that was
forgotten has none: what was found until then is not judged any more.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import ANNOTATIONS
from tests.simulation.auditor.story import Entry, Known, Point

LAW = "tags"
ACT, TAG = "label", "filed"
"""The act by which filters tag, and with what: nobody else says it."""

About = tuple[str, str]
"""A person and a Message-ID."""


@dataclass(slots=True)
class Tags:
    """Filters whose tags may be there without them, and people of whom nothing can be said."""

    known: Known
    unsure: set[str] = field(default_factory=set)
    groups: dict[str, list[str]] = field(default_factory=dict)

    def judge(self, point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
        """Judge the tags that stand at a settled point."""
        for entry in point.entries:
            self._follow(entry, lives)
        rows = point.rows("matches")
        if rows is None:
            return
        stands: dict[About, set[int]] = defaultdict(set)
        for row in rows:
            life = lives.get(row["filter"])
            if life is None or json.loads(row.get("acts") or "{}").get(ACT) != "stands":
                continue
            if row["retracted_at"] is not None:
                said = f"filter {row['filter']} let go of {row['msgid']}, and its tag stands"
                yield Finding(LAW, said, point.step)
            stands[life.entry["owner"], row["msgid"]].add(row["filter"])
        there = self._there()
        for owner, msgid in sorted(stands.keys() | there.keys()):
            filters, audiences = stands[owner, msgid], there[owner, msgid]
            if owner in self.unsure:
                continue
            if any(audience != f"user:{owner}" for audience in audiences):
                said = f"a filter of {owner} tags {msgid} for {', '.join(audiences)}"
                yield Finding(LAW, said, point.step)
            if bool(filters) != bool(audiences) or len(audiences) > len(filters):
                said = f"{len(filters)} filters of {owner} tag {msgid}, and {len(audiences)} tags"
                yield Finding(LAW, f"{said} are there", point.step)

    def _follow(self, entry: Entry, lives: dict[int, Life]) -> None:
        match entry["what"]:
            case "upkeep" if entry["kind"] in ("forget", "restore"):
                self.unsure |= self.known.people.keys()
            case "person":
                before = self.groups.setdefault(entry["name"], entry["groups"])
                if before != entry["groups"]:
                    self.unsure.add(entry["name"])
            case "filter_changed":
                life = lives.get(entry["key"])
                if entry["how"] == "delete":
                    self.unsure |= self.known.people.keys()
                elif life is not None and (entry.get("forget") or not entry.get("same")):
                    self.unsure.add(life.entry["owner"])

    def _there(self) -> dict[About, list[str]]:
        """Return the audiences of the tags of filters that stand, by owner and message."""
        rows = self.known.rows[ANNOTATIONS].values()
        taken = {(row["value"], row["owner"]) for row in rows if row["kind"] == "retraction"}
        there: dict[About, list[str]] = defaultdict(list)
        for row in rows:
            is_tag = row["kind"] == "tag" and row["value"] == TAG
            if is_tag and (row["annid"], row["owner"]) not in taken:
                there[row["owner"], row["msgid"]].append(row["audience"])
        return there
