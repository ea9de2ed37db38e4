"""What people have their programs do, by the API, in place of what they do on pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.simulation.generator.cast import Cast
from tests.simulation.world import DAY, HOUR, MINUTE

Answer = dict[str, Any] | None

AGAIN, ANEW = 0.6, 0.15
"""How often a program reads a filter that was read before, and that from its beginning."""

MOST = 200
"""Pages that are read of a filter."""


def write_filter(cast: Cast, owner: str, sent: dict[str, Any]) -> tuple[Answer, dict[str, Any]]:
    """Have a filter be written as a form would; return the answer, and what was asked for."""
    asked = {name: sent[name] for name in ("text", "name", "mail", "mode", "timeliness")}
    given = {name: value for name, value in asked.items() if name != "mail"}
    given["existing"] = sent["mail"] == "existing"
    return cast.call(owner, "post", "/filters", given), {**asked, "visibility": "private"}


def change_filter(cast: Cast, owner: str, name: str, how: str) -> Answer:
    """Have a filter pause, go on, or be deleted."""
    if how == "delete":
        return cast.call(owner, "delete", f"/filters/{name}")
    return cast.call(owner, "patch", f"/filters/{name}", {"active": how == "resume"})


def act(
    cast: Cast, person: str, action: str, copies: Sequence[tuple[str, str]]
) -> tuple[Answer, dict[str, Any]]:
    """Have a program act on copies, by msgid and audience; return what is told beside it."""
    given: dict[str, Any] = {"action": action}
    given["messages"] = [{"id": msgid, "audience": audience} for msgid, audience in copies]
    told: dict[str, Any] = {}
    if action == "snooze":
        told["until"] = cast.world.now + cast.programs.choice((7 * MINUTE, 9 * HOUR, 2 * DAY))
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=told["until"])
        given["until"] = moment.isoformat()
    return cast.call(person, "post", "/acts", given), told


def annotate(cast: Cast, person: str, sent: dict[str, Any]) -> Answer:
    """Have a program say what a form says of a message."""
    given = {"private": "private" in sent, "audience": sent.get("in", "")}
    answer = cast.call(person, "post", "/annotations", {**sent, **given})
    if answer is not None and answer["status"] == 200:
        cast.arrivals.append((person, json.loads(answer["text"])["token"]))
    return answer


def read_on(cast: Cast, *, settled: bool = False) -> None:
    """Have a program read what has come into a filter, and left it, since it did last."""
    keys = sorted(key for key, row in cast.filters.items() if row["owner"] in cast.names)
    if not keys:
        return
    again = sorted(cast.cursors.keys() & set(keys))
    key = cast.programs.choice(again if again and cast.programs.random() < AGAIN else keys)
    row, known = cast.filters[key], cast.cursors.get(key)
    if known is None or cast.programs.random() < ANEW:
        cast.readers += 1
        known = (cast.readers, "")
    reader, cursor = known
    for _ in range(MOST):
        most = cast.programs.choice((1, 3, 100))
        address = f"/filters/{row['name']}/matches"
        answer = cast.call(row["owner"], "get", address, {"after": cursor, "limit": most})
        if answer is None or answer["status"] != 200:
            cast.cursors.pop(key, None)
            return
        found = json.loads(answer["text"])
        steps = [[step["op"], step["id"], step["matched_at"]] for step in found["matches"]]
        told = {"filter": key, "person": row["owner"], "reader": reader, "steps": steps}
        told["is_end"] = found["is_end"]
        cast.history.add("seen", kind="steps", **told) if settled else cast.history.add(
            "steps", **told
        )
        cursor = found["next"]
        cast.cursors[key] = reader, cursor
        if found["is_end"]:
            return
