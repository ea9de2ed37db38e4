"""What is seen of a world at a settled point, from the outside."""

from __future__ import annotations

import html
import json
import re
from typing import Any
from urllib.parse import parse_qsl

from tests.simulation import tables_reader

LISTED = re.compile(r'data-msgid="([^"]*)"')
LINE = re.compile(
    r'<li class="line">.*?name="(conversation|id:[^"]*)"\s+value="([^"]*)".*?class="row( unread)?"',
    re.S,
)
"""A line of a list: the field that names its message, or those of its conversation."""

FOLDED = re.compile(r'name="filter" value="([^"]*)">\s*<span>\s*<a href="[^"]*">([\d,]+) message')
"""The line of the inbox of a filter, and how many messages of before it has found."""

MATCHES = """
SELECT id AS key, filter_id AS filter, msgid, audience, matched_at, stored_at, shown_at,
    retracted_at, read_at, sequence, acted_at, acts, card_id IS NOT NULL AS listed
FROM inbox_match ORDER BY id"""
_ROWS = {
    "matches": MATCHES,
    "filters": """
        SELECT f.id AS key, u.username AS owner, active, enrolled, proven, since, start, end,
            error, revision, waits_from, start_clock, begun_at, folds_before, unfolded_at, part,
            (SELECT w.since FROM runs_sharedwindow w WHERE w.id = 1 + part) AS shared_since
        FROM authoring_filter f JOIN people_user u ON u.id = f.owner_id ORDER BY f.id""",
    "complete": "SELECT source, audience, upto, ts FROM runs_completeupto ORDER BY id",
    "aggregates": """
        SELECT u.username AS owner, a.name, definition, visibility
        FROM authoring_aggregate a JOIN people_user u ON u.id = a.owner_id ORDER BY a.id""",
    "destinations": """
        SELECT id AS key, cursor, latest, claimed_until, holder, due_at, failures, active, error
        FROM delivery_destination ORDER BY id""",
    "mailbox_acts": """
        SELECT a.filter_id AS filter, a.msgid, a.wish, a.ended_at, a.outcome, s.user
        FROM sources_mailboxact a JOIN sources_source s ON s.id = a.source_id ORDER BY a.id""",
    "asides": """
        SELECT kind, key, error_class, attempts, first_at FROM runs_setaside
        ORDER BY kind, key""",
}
_CLOCK = """
    SELECT (SELECT max(last) FROM runs_clock) AS last,
        (SELECT min(since) FROM runs_sharedwindow) AS shared_since"""


def observe(cast: Any, *, at_end: bool = False) -> None:
    """Write down what is stored and what pages show; at the end the list of every filter."""
    world, history = cast.world, cast.history
    for table in ("messages", "annotations", "threads"):
        rows = tables_reader.rows_of(world.data / "tables" / table)
        history.add("seen", kind="rows", table=table, rows=rows)
    for kind, query in _ROWS.items():
        history.add("seen", kind=kind, rows=world.select(query))
    history.add("seen", kind="clock", **world.select(_CLOCK)[0])
    _waits(cast)
    for person in cast.names:
        _pages(cast, person, every=at_end)


def _waits(cast: Any) -> None:
    """Write down what `wait` waits for, and whether what people said by programs has arrived.

    What was said by a person who is gone, or before a backup was made, is of nothing.
    """
    cast.history.add("seen", kind="waits", person="", now=cast.order("waits") or [])
    for person, token in cast.arrivals:
        answer = cast.call(person, "get", f"/arrived/{token}") if person in cast.names else None
        if answer is not None and answer["status"] == 200:
            now = json.loads(answer["text"])["waits_for"]
            cast.history.add("seen", kind="waits", person=person, now=now)
    cast.arrivals.clear()


def _pages(cast: Any, person: str, *, every: bool) -> None:
    """Write down what a person's pages list: the inbox, the shelves, and filters.

    The lists of one who has rules of importance are looked at in that order too.
    """
    pages = [("inbox", "", "/")]
    mine = [row["name"] for row in cast.filters.values() if row["owner"] == person]
    names = mine if every else cast.lots.sample(mine, min(len(mine), 1))
    pages += [("filter", name, f"/in/{name}/") for name in names]
    if cast.rules(person):
        pages += [("importance", name, f"{address}by-importance/") for _, name, address in pages]
    pages += [("shelf", shelf, f"/{shelf}/") for shelf in ("done", "starred", "snoozed")]
    pages.append(("muted", "", "/muted/"))
    for page, name, address in pages:
        answer = cast.request(person, "get", address)
        if answer is not None:
            msgids = [html.unescape(msgid) for msgid in LISTED.findall(answer["text"])]
            more: dict[str, Any] = {}
            if cast.people[person].get("conversations") and answer["status"] == 200:
                more = {"lines": lines_of(answer["text"])}
            if page == "inbox" and answer["status"] == 200:
                found = FOLDED.findall(answer["text"])
                more["folded"] = {name: int(count.replace(",", "")) for name, count in found}
            cast.history.add(
                "seen",
                kind="page",
                person=person,
                page=page,
                name=name,
                msgids=msgids,
                status=answer["status"],
                **more,
            )


def lines_of(text: str) -> list[list[Any]]:
    """Return the lines of a list of conversations: the messages of each, and if it is unread."""
    found: list[list[Any]] = []
    for name, value, unread in LINE.findall(text):
        named = html.unescape(value)
        msgids = [named] if name != "conversation" else [msgid for _, msgid in parse_qsl(named)]
        found.append([msgids, bool(unread)])
    return found
