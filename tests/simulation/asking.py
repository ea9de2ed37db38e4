"""What people ask at a settled point: why a message is in a filter, and how a list was before."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import urlencode

from tests.simulation.observations import LISTED
from tests.simulation.settling import run_task

_TASK = re.compile(r"task=([0-9a-f-]{36})")
_SAID = re.compile("the message (does not match|matches) “")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def ask(cast: Any, person: str) -> None:
    """Ask both, by a lot of their own: what else is drawn in a world stays so."""
    lots = Random(f"{cast.history.step} {person}")
    _ask_why(cast, person, lots)
    _look_back(cast, person, lots)


def _ask_why(cast: Any, person: str, lots: Random) -> None:
    mine = [row for row in cast.filters.values() if row["owner"] == person and row["tql"]]
    seen = [row for row in cast.mail.rows if row["audience"] in cast.audiences_of(person)]
    if not mine or not seen:
        return
    filter_, msgid = lots.choice(mine), lots.choice(seen)["msgid"]
    address = f"/filters/why/?{urlencode({'id': msgid, 'filter': filter_['name']})}"
    answer = cast.request(person, "get", address)
    task = _TASK.search(answer["text"]) if answer is not None else None
    if task is None:
        return
    for waiting in [each for each in cast.world.queue.tasks if each.name == "filters.why"]:
        cast.world.queue.tasks.remove(waiting)
        run_task(cast.world, waiting)
    answer = cast.request(person, "get", f"{address}&task={task[1]}")
    said = _SAID.search("" if answer is None else answer["text"])
    if said is not None:
        told = {"person": person, "tql": filter_["tql"], "msgid": msgid}
        cast.history.add("seen", kind="why", **told, matches=said[1] == "matches")


def _look_back(cast: Any, person: str, lots: Random) -> None:
    looks = [
        entry
        for entry in cast.history.entries
        if entry.get("kind") == "page"
        and entry["person"] == person
        and entry["page"] in ("inbox", "filter", "shelf", "muted")
        and entry["status"] == 200
    ]
    if not looks:
        return
    shelves = [look for look in looks[-60:] if look["page"] == "shelf" and look["msgids"]]
    look = lots.choice(shelves if shelves and lots.random() < 0.5 else looks)
    name = f"in/{look['name']}" if look["page"] == "filter" else look["name"]
    name = "muted" if look["page"] == "muted" else name
    at = (_EPOCH + timedelta(microseconds=look["now"])).isoformat()
    answer = cast.request(person, "get", f"/as-of/?{urlencode({'list': name, 'at': at})}")
    if answer is not None and answer["status"] == 200:
        msgids = [html.unescape(msgid) for msgid in LISTED.findall(answer["text"])]
        told = {"person": person, "page": look["page"], "name": look["name"], "at": look["now"]}
        cast.history.add("seen", kind="as_of", **told, msgids=msgids)
