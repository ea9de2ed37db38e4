"""The standing queries of a seed, their answers, and both as files."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tapestry.core.clock import format_instant
from tests.bench.support.standing.kinds import KINDS
from tests.bench.support.standing.stream import Stream, values

Answer = tuple[int, str, int]
"""A query, a message, and the first instant at which it matches."""


@dataclass(frozen=True, slots=True)
class Query:
    """One standing query."""

    number: int
    kind: str
    key: str
    constant: int

    @property
    def sql(self) -> str:
        """Return its text."""
        return KINDS[self.kind].sql.format(self.key, self.constant)


def make_queries(seed: int, count: int, different: int) -> list[Query]:
    """Return ``count`` queries, as many of each kind, about any of the people and topics."""
    chance = random.Random(f"queries {seed}")
    names = list(KINDS)
    keys = {about: values(about, different) for about in ("person", "topic")}
    queries = []
    for number in range(count):
        kind = names[number % len(names)]
        key = chance.choice(keys[KINDS[kind].about])
        queries.append(Query(number, kind, key, chance.choice(KINDS[kind].numbers)))
    return queries


def answers(stream: Stream, queries: Iterable[Query]) -> Iterator[Answer]:
    """Yield each pair once that matches until the end of the stream."""
    asking = defaultdict(list)
    for query in queries:
        asking[query.kind, query.key].append(query)
    for message in stream.messages:
        for name, kind in KINDS.items():
            for key in kind.keys(stream, message):
                for query in asking.get((name, key), ()):
                    at = kind.instant(stream, message, key, query.constant)
                    if at is not None and at <= stream.end:
                        yield query.number, message.msgid, at


def write(directory: Path, stream: Stream, queries: Iterable[Query], found: list[Answer]) -> None:
    """Write rows, queries and answers as files of JSON lines."""
    directory.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Iterable[dict[str, Any]]] = {
        "messages": (
            {
                "msgid": row.msgid,
                "ts": format_instant(row.ts),
                "sender": row.sender,
                "list": row.topic,
                "inreplyto": row.parent,
            }
            for row in stream.messages
        ),
        "annotations": (
            {
                "annid": row.annid,
                "ts": format_instant(row.ts),
                "msgid": row.msgid,
                "owner": row.owner,
                "kind": "vote",
                "number": 1,
            }
            for row in stream.votes
        ),
        "queries": ({"id": query.number, "text": query.sql} for query in queries),
        "answers": (
            {"filter": number, "msgid": msgid, "matched_at": format_instant(at)}
            for number, msgid, at in sorted(found, key=lambda pair: (pair[2], pair[0], pair[1]))
        ),
    }
    for name, rows in tables.items():
        with (directory / f"{name}.jsonl").open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
