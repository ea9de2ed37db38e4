"""What people say on pages: one vote of each stands, and what is private is theirs.

Of a message each person has one vote and one priority to one audience: another takes back what
they had.  Who takes back one thing takes back nothing else, and does so before those to whom it was
said.  Contacts and calendars are for their owner alone.  Where an answer was lost nobody can say
what was kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.nodes import ANNOTATIONS
from tests.simulation.auditor.story import Entry, Known, Point, Row

LAW = "opinions"
ONE = ("vote", "priority")
OWN = ("contact", "meeting", "cancelled")


class Opinions:
    """What was said on pages so far; ``lost`` are people and messages of which an answer was."""

    def __init__(self) -> None:
        self.said: dict[str, Row] = {}
        self.lost: set[tuple[str, str]] = set()

    def judge(self, point: Point, known: Known) -> Iterator[Finding]:
        """Judge what was said up to a point, and what stands at it."""
        new: list[Row] = []
        for entry in point.entries:
            match entry["what"]:
                case "submitted" if entry["table"] == ANNOTATIONS:
                    of_page = entry["rows"] if entry["origin"] == "page" else []
                    self.said |= {row["annid"]: row for row in of_page}
                    new += of_page
                    yield from self._of_whom(point, of_page)
                case "act" if "sent" in entry:
                    yield from self._act(point, entry, new[len(new) - entry["kept"] :])
        yield from self._standing(point, known)

    def _act(self, point: Point, entry: Entry, kept: list[Row]) -> Iterator[Finding]:
        person, msgid = entry["person"], entry["msgids"][0]
        if entry["status"] is None:
            self.lost.add((person, msgid))
        if (person, msgid) in self.lost:
            return
        if entry["sent"].get("take_back"):
            yield from self._taken_back(point, entry, kept)
        if not entry["sent"].get("private"):
            return
        for row in kept:
            mine = (row["owner"], row["msgid"], row["kind"]) == (person, msgid, entry["kind"])
            if mine and row["audience"] != f"user:{person}":
                said = f"{person} said a {row['kind']} of {msgid} in private, to {row['audience']}"
                yield Finding(LAW, said, point.step)

    def _taken_back(self, point: Point, entry: Entry, kept: list[Row]) -> Iterator[Finding]:
        named, about = entry["sent"]["take_back"], (entry["person"], entry["msgids"][0])
        for row in kept:
            one = self.said.get(row["value"]) if row["kind"] == "retraction" else None
            if one is None or (one["owner"], one["msgid"]) != about:
                continue
            if named not in (one["annid"], one["value"]):
                said = (
                    f"{about[0]} took back {named} of {about[1]}, and {one['value']} went with it"
                )
                yield Finding(LAW, said, point.step)

    def _of_whom(self, point: Point, rows: list[Row]) -> Iterator[Finding]:
        for row in rows:
            if row["kind"] in OWN and row["audience"] != f"user:{row['owner']}":
                said = f"{row['value']} is a {row['kind']} of {row['owner']} for {row['audience']}"
                yield Finding(LAW, said, point.step)
            retracted = self.said.get(row["value"]) if row["kind"] == "retraction" else None
            if retracted is not None and retracted["audience"] != row["audience"]:
                said = f"{row['owner']} said {retracted['annid']} to {retracted['audience']}"
                said += f", and takes it back for {row['audience']}"
                yield Finding(LAW, said, point.step)

    def _standing(self, point: Point, known: Known) -> Iterator[Finding]:
        rows = known.rows[ANNOTATIONS].values()
        taken = {
            (row["value"], row["msgid"], row["owner"], row["audience"])
            for row in rows
            if row["kind"] == "retraction"
        }
        stands: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
        for row in rows:
            named = (row["annid"], row["msgid"], row["owner"], row["audience"])
            if row["kind"] in ONE and row["annid"] in self.said and named not in taken:
                stands[row["owner"], row["kind"], row["msgid"], row["audience"]].append(
                    row["annid"]
                )
        for (owner, kind, msgid, audience), annids in sorted(stands.items()):
            if len(annids) > 1:
                said = f"{len(annids)} times a {kind} of {owner} stands on {msgid} to {audience}"
                yield Finding(LAW, said, point.step)
