"""What filters did in the mailboxes of their owners.

mail that came into a mailbox ─ nobody outside removed it ─> it is there, once, in some folder
what stands of a match ─> its flags are there, and it lies where it was moved to
what does not ─> flags that it came without are gone, and it lies where it came
wherever the worker ended: what a filter has done itself is not taken for what somebody else did

Judged is mail of which one came there alone.  What could not be done says so, and is not judged.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.story import Entry, Point, Row

LAW = "acts in mailboxes"

FLAGS = {"flag": "\\Flagged", "seen": "\\Seen", "tag": "acted"}
FOLDERS = {"move": "Acted", "trash": "Trash"}
GONE = "moved or deleted it"
"""Words of what could not be done as somebody has moved a message."""

Mail = tuple[str, str]
"""A mailbox, by its user, and a Message-ID."""


def _ends(entry: Entry) -> bool:
    """Return whether nobody can say from then on what filters had done so far."""
    how = entry.get("how", entry.get("kind"))
    if entry["what"] == "filter_changed":
        return how in ("delete", "forget") or bool(entry.get("forget"))
    return entry["what"] == "source" or (entry["what"] == "upkeep" and how in ("forget", "restore"))


@dataclass(slots=True)
class Acted:
    """The mail that came into mailboxes, with its flags, and what others changed there."""

    came: dict[Mail, tuple[str, set[str]]] = field(default_factory=dict)
    count: Counter[Mail] = field(default_factory=Counter)
    changed: set[Mail] = field(default_factory=set)

    def judge(self, point: Point) -> Iterator[Finding]:
        """Judge what lies in the mailboxes in which filters act."""
        for entry in point.entries:
            if entry["what"] == "mailbox":
                self._follow(entry)
            elif _ends(entry):
                self.changed |= self.came.keys()
        acts, matches = point.rows("mailbox_acts"), point.rows("matches")
        if acts is None or matches is None:
            return
        standing = {(row["filter"], row["msgid"]): json.loads(row["acts"]) for row in matches}
        of_mail: dict[Mail, list[Row]] = defaultdict(list)
        for row in acts:
            of_mail[row["user"], row["msgid"]].append(row)
        for look in point.seen.get("mailbox", []):
            for mail, rows in of_mail.items():
                alone = self.count[mail] == 1 and mail not in self.changed
                if mail[0] == look["user"] and alone:
                    yield from self._judge(point, look, mail, rows, standing)

    def _follow(self, entry: Entry) -> None:
        for message in entry["messages"]:
            mail = entry["user"], message["msgid"]
            if entry["how"] == "came":
                self.count[mail] += 1
                self.came[mail] = entry["folder"], {*message["flags"]}
            else:
                self.changed.add(mail)
        if entry["how"] == "renumbered":
            self.changed |= {mail for mail in self.came if mail[0] == entry["user"]}

    def _judge(
        self,
        point: Point,
        look: Entry,
        mail: Mail,
        rows: list[Row],
        standing: dict[tuple[int, str], dict[str, str]],
    ) -> Iterator[Finding]:
        places = [
            (folder, {*message["flags"]})
            for folder, messages in look["folders"].items()
            for message in messages
            if message["msgid"] == mail[1]
        ]
        if len(places) != 1:
            said = f"{mail[1]} is {len(places)} times in the mailbox of {mail[0]}"
            yield Finding(LAW, said, point.step)
            return
        for row in rows:
            if row["ended_at"] is None:
                said = f"filter {row['filter']} has still to act on {mail[1]} in a mailbox"
                yield Finding(LAW, said, point.step)
                return
        if any(GONE in row["outcome"] for row in rows):
            fault = f"{mail[1]} counts as gone from the mailbox of {mail[0]}, and nobody did it"
            yield Finding(LAW, fault, point.step)
        if any(row["outcome"] for row in rows):
            return
        does = {
            name
            for row in rows
            for name, became in standing.get((row["filter"], row["msgid"]), {}).items()
            if became == "stands"
        }
        (folder, flags), (home, had) = places[0], self.came[mail]
        for name, flag in FLAGS.items():
            if (flag in flags) != (name in does or flag in had):
                said = (
                    f"{mail[1]} has{'' if flag in flags else ' not'} the flag {flag} in a mailbox"
                )
                yield Finding(LAW, said, point.step)
        targets = tuple(target for name, target in FOLDERS.items() if name in does)
        if not folder.endswith(targets) if targets else folder != home:
            yield Finding(
                LAW, f"{mail[1]} lies in {folder} of the mailbox of {mail[0]}", point.step
            )
