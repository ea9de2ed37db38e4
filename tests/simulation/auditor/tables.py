"""The rows that somebody may see, each with the span of time over which it is there.

A row is a dict with the columns of LANGUAGE.md; ``"gone"``, where it has one, is the instant from
which on it is not there any more, because it was forgotten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any

from tests.simulation.auditor.nodes import ANNOTATIONS, MESSAGES, SETS, THREADS
from tests.simulation.auditor.spans import FOREVER, Spans
from tests.simulation.auditor.threads import facts_of

Row = dict[str, Any]
COLUMNS = {
    MESSAGES: (
        *("msgid", "ts", "received", "date", "sender", "sender_name", "to", "to_names", "cc"),
        *("cc_names", "subject", "newsgroups", "list", "inreplyto", "references", "body", "size"),
        *(
            "attachments",
            "filenames",
            "media_types",
            "diff_paths",
            "patch",
            "questions",
            "automatic",
            "event",
            "method",
            "source",
            "audience",
        ),
    ),
    ANNOTATIONS: ("annid", "ts", "msgid", "owner", "kind", "value", "number", "starts", "audience"),
}


def completed(table: str, row: Row) -> Row:
    """Return a row with all its columns: a missing set is empty, a missing audience public."""
    full: Row = {name: row.get(name) for name in COLUMNS[table]}
    for name in SETS & full.keys():
        full[name] = tuple(full[name] or ())
    full["audience"] = full["audience"] or "public"
    if table == MESSAGES:
        at = full["received"]
        full["received"] = full["ts"] if at is None else min(at, full["ts"])
    elif full["starts"] is None:
        full["starts"] = full["ts"]
    return full


class Tables:
    """The tables as one who may see some audiences finds them; never changed.

    ``facts`` about threads are those that follow from the messages, if none are given.
    """

    def __init__(
        self,
        messages: Iterable[Row],
        annotations: Iterable[Row],
        audiences: Collection[str],
        facts: Iterable[Row] | None = None,
    ) -> None:
        seen = frozenset(audiences)
        self._indexes: dict[tuple[str, str], dict[Any, list[Row]]] = {}
        self.rows: dict[str, list[Row]] = {MESSAGES: [], ANNOTATIONS: [], THREADS: []}
        mail = [completed(MESSAGES, row) | {"gone": row.get("gone")} for row in messages]
        for row in mail:
            self._keep(MESSAGES, row, ((row["ts"], row["gone"] or FOREVER),), seen)
        for fact in facts_of(mail) if facts is None else facts:
            there = ((fact["ts"], fact.get("gone") or FOREVER),)
            self._keep(THREADS, dict(fact), there, seen)
        taken: dict[tuple[Any, ...], int] = {}
        notes = [(completed(ANNOTATIONS, row), row.get("gone") or FOREVER) for row in annotations]
        for note, _ in notes:
            if note["kind"] == "retraction":
                key = (note["value"], note["msgid"], note["owner"], note["audience"])
                taken[key] = min(taken.get(key, FOREVER), note["ts"])
        for note, gone in notes:
            if note["kind"] != "retraction":
                key = tuple(note[name] for name in ("annid", "msgid", "owner", "audience"))
                until = FOREVER if None in key else taken.get(key, FOREVER)
                self._keep(ANNOTATIONS, note, ((note["ts"], min(until, gone)),), seen)

    def _keep(self, table: str, row: Row, there: Spans, seen: frozenset[str]) -> None:
        if row["audience"] in seen and there[0][0] < there[0][1]:
            row["there"] = there
            self.rows[table].append(row)

    def having(self, table: str, column: str, value: Any) -> list[Row]:
        """Return the rows whose column, or some element of it, equals a value."""
        index = self._indexes.get((table, column))
        if index is None:
            index = self._indexes[table, column] = {}
            for row in self.rows[table]:
                for element in set(row[column]) if column in SETS else (row[column],):
                    index.setdefault(element, []).append(row)
        return index.get(value, [])

    @cached_property
    def by_msgid(self) -> dict[str, list[Row]]:
        """The messages, by their msgid."""
        found: dict[str, list[Row]] = {}
        for row in self.rows[MESSAGES]:
            found.setdefault(row["msgid"], []).append(row)
        return found
