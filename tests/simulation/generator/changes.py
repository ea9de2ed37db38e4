"""Changes of filters of which much follows: of one that others use, or of which something waits."""

from __future__ import annotations

import re
from typing import Any

from tests.simulation.generator import people
from tests.simulation.generator.cast import Cast
from tests.simulation.generator.doings import THERE, TIMELINESS, filter_rows
from tests.simulation.settling import run_task
from tests.simulation.tasks import Task
from tests.simulation.world import HOUR

Row = dict[str, Any]

HELD = 1 << 62
"""When a match is shown that waits until nothing of its filter is unread."""


def edit(cast: Cast, row: Row, how: str, **changed: str) -> None:
    """Have the owner of a filter change something of it, and leave the rest."""
    sent = {
        "text": row["text"],
        "name": row["name"],
        "mail": "existing" if row["t0"] is None else "new",
        "mode": "live" if row["live"] else "keep",
        "timeliness": row["timeliness"],
        "visibility": row["visibility"],
        "found": "keep",
        **({"while_unread": "on"} if row["while_unread"] else {}),
        "acts": row["acts"].split(),
        **THERE,
        **changed,
    }
    answer = cast.request(row["owner"], "post", f"/filter/{row['name']}/edit/", sent)
    told = {"forget": sent["found"] == "forget", "status": answer and answer["status"]}
    cast.note_filters(how, {row["key"]}, asked=sent, **told)


def of_any_kind(cast: Cast, key: int) -> None:
    """Have a filter be edited, with what it has found or without, or see other mail, or pause."""
    lots = cast.lots
    for row in filter_rows(cast, "f.id = ?", key):
        match lots.choice(("edit", "edit", "forget", "forget", "forget", "pause", "regroup")):
            case "edit":
                edit(cast, row, "edit", text=lots.choice(_TEXTS))
            case "forget":
                edit(cast, row, "edit", text=lots.choice(_TEXTS), found="forget")
            case "pause":
                cast.request(row["owner"], "post", f"/filter/{row['name']}/pause/")
                cast.note_filters("pause", {key})
            case "regroup":
                people.regroup_one(cast, row["owner"])


_TEXTS = ("from joe", "from mary", "with no reply", "m.size > 1000", "tagged m1", "not from joe")


def change_lender(cast: Cast) -> None:
    """Have a filter be changed that others refer to: its text, or whether others may use it."""
    rows = filter_rows(cast)
    used = {name for row in rows for name in re.findall(r"\bf\d+\b", row["text"])}
    lenders = [row for row in rows if row["name"] in used]
    if not lenders:
        return
    row = cast.lots.choice(lenders)
    if cast.lots.random() < 0.6:
        edit(cast, row, "edit", text=cast.lots.choice(_TEXTS))
    else:
        other = "private" if row["visibility"] == "shared" else "shared"
        edit(cast, row, "visibility", visibility=other)


def keep_from_now(cast: Cast) -> None:
    """Have a live filter keep what it finds, once something has left it."""
    _of_some(cast, "retracted_at IS NOT NULL AND f.mode = 'live'", "mode", mode="keep")


def hurry(cast: Cast) -> None:
    """Have another time be chosen for what waits to be shown, and for long."""
    waiting = f"shown_at BETWEEN {cast.world.now + HOUR} AND {HELD - 1} AND sequence IS NULL"
    waiting += " AND NOT f.while_unread"
    _of_some(cast, waiting, "timeliness", timeliness=cast.lots.choice(TIMELINESS[2:]))


def find_nothing(cast: Cast) -> None:
    """Have a live filter that has found something be one that finds nothing."""
    some = "retracted_at IS NULL AND f.mode = 'live'"
    _of_some(cast, some, "edit", text="tagged nothing and from nobody@z.org")
    run_task(cast.world, Task("filters.unproven_windows"))


def _of_some(cast: Cast, condition: str, how: str, **changed: str) -> None:
    rows = cast.world.select(
        "SELECT DISTINCT f.id FROM inbox_match m JOIN authoring_filter f ON f.id = m.filter_id"
        f" WHERE {condition} ORDER BY f.id"
    )
    for row in cast.lots.sample(rows, min(len(rows), 1)):
        for filter_ in filter_rows(cast, "f.id = ?", row["id"]):
            edit(cast, filter_, how, **changed)


def change_much(cast: Cast) -> None:
    """Have one of these happen that has happened least."""
    kinds = cast.lots.sample(_KINDS, len(_KINDS))
    kind = min(kinds, key=lambda kind: cast.used[kind])
    cast.used[kind] += 1
    kind(cast)


_KINDS = (change_lender, keep_from_now, hurry, find_nothing)
