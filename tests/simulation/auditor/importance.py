"""Importance: a list by a person's rules has what it has else, what comes to most first.

rules as they were asked for ─ card, age, votes, replies, unread ─> a sum for each message,
but for what is pinned at the top
Of equal ones those received last are first.  Votes and replies count as far as the person may see
them: the last vote of each voter that was not taken back, and each reply once.  What was refused
changes no rule; after an answer that was lost, or a backup, the rules are those that are there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tests.simulation.auditor.answers import truth_of
from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lists import Key, compare, listed, unread_of
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.nodes import ANNOTATIONS, MESSAGES
from tests.simulation.auditor.rules import meaning
from tests.simulation.auditor.shelves import Desks
from tests.simulation.auditor.spans import FOREVER, holds
from tests.simulation.auditor.story import Entry, Known, Point, Row
from tests.simulation.auditor.tables import Tables
from tests.simulation.auditor.timelines import Timelines

LAW = "importance"
CARD = ("sender", "sender_name", "subject")
"""Columns of which a card says nothing where they are empty."""

Rules = dict[int, tuple[int, str]]
"""The weight and the words of each rule, by its key."""


class Importance:
    """The rules of everybody, followed through the entries of a history."""

    def __init__(self, known: Known, timelines: Timelines) -> None:
        self.known, self.timelines = known, timelines
        self.rules: dict[str, Rules] = {}

    def judge(self, point: Point, lives: dict[int, Life], desks: Desks) -> Iterator[Finding]:
        """Judge what was asked for up to a point, and every list by importance at it."""
        for entry in point.entries:
            if entry["what"] == "rules":
                yield from self._change(point, entry)
        for look in point.seen.get("page", []):
            if (
                point.rows("matches") is not None
                and look["page"] == "importance"
                and look["status"] == 200
            ):
                yield from self._judge_page(point, look, lives, desks)

    def _change(self, point: Point, entry: Entry) -> Iterator[Finding]:
        """Take in the rules that stand, and judge if they are those that were asked for."""
        before = self.rules.get(entry["person"], {})
        there: Rules = {row["key"]: (row["weight"], row["text"]) for row in entry["rows"]}
        status = entry.get("status")
        if status is None or status >= 500:
            kept = {} if entry["how"] == "restored" else before
        else:
            kept = before if status >= 400 else _asked(before, entry, there)
            weights = {key: weight for key, (weight, _) in kept.items()}
            if weights != {key: weight for key, (weight, _) in there.items()}:
                said = f"of {entry['person']}, answered {status}, leaves {there}, not {kept}"
                yield Finding(LAW, f"{entry['how']} {entry['sent']} {said}", point.step)
        self.rules[entry["person"]] = {
            key: (weight, kept[key][1] if key in kept else text)
            for key, (weight, text) in there.items()
        }

    def _judge_page(
        self,
        point: Point,
        look: Entry,
        lives: dict[int, Life],
        desks: Desks,
    ) -> Iterator[Finding]:
        person = look["person"]
        tables = self.timelines.tables(self.known.audiences(person))
        found, unsure = listed(point, look, lives, self.known, desks)
        keys: dict[tuple[str, str], Key] = {}
        for (msgid, audience), matches in found.items():
            row, votes = self.known.rows[MESSAGES].get((msgid, audience)), votes_of(tables, msgid)
            if row is None or votes is None:
                unsure.add(msgid)
                continue
            times = {
                "votes": votes,
                "replies": len({r["msgid"] for r in tables.having(MESSAGES, "inreplyto", msgid)}),
                "unread": int(any(match["read_at"] is None for match in matches)),
            }
            state = desks.of(person).state(msgid)
            if not look["name"] and state.pinned is not None and state.done is None:
                keys[msgid, audience] = math.inf, state.pinned
            else:
                total = self._total(person, row, times, look["now"])
                keys[msgid, audience] = total, row["received"]
        yield from compare(point, look, keys, unsure, self.known, LAW, unread_of(found))

    def _total(self, person: str, row: Row, times: dict[str, int], now: int) -> int:
        address = self.known.people[person].get("email") or ""
        card = {**row, **{name: row[name] or None for name in CARD}}
        total = 0
        for weight, text in self.rules.get(person, {}).values():
            rule = meaning(text, address)
            counts = times[rule] if isinstance(rule, str) else holds(truth_of(rule, card), now)
            total += weight * counts
        return total


def _asked(before: Rules, entry: Entry, there: Rules) -> Rules:
    """Return the rules after something was done that was asked for."""
    kept, sent = dict(before), entry["sent"]
    match entry["how"]:
        case "add":
            new = max(there, default=0)
            kept[new if new not in before else new + 1] = sent["weight"], sent["text"]
        case "weigh":
            kept[entry["key"]] = sent["weight"], before[entry["key"]][1]
        case "remove":
            del kept[entry["key"]]
    return kept


def votes_of(tables: Tables, msgid: str) -> int | None:
    """Return the votes for a message less those against it; None if nobody can say.

    That is if votes of somebody to two audiences have come at once, and are not the same.
    """
    last: dict[str, tuple[int, set[int]]] = {}
    for row in tables.having(ANNOTATIONS, "msgid", msgid):
        ((begin, end),) = row["there"]
        if row["kind"] != "vote" or not row["number"] or end < FOREVER:
            continue
        at, signs = last.get(row["owner"], (begin, set()))
        if begin >= at:
            sign = 1 if row["number"] > 0 else -1
            last[row["owner"]] = begin, {sign} | (signs if begin == at else set())
    if any(len(signs) > 1 for _, signs in last.values()):
        return None
    return sum(sign for _, signs in last.values() for sign in signs)
