"""Set pieces of people at their desks, in the order in which something can go wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tapestry.core.clock import to_datetime
from tests.simulation.generator import beginnings, desk, letters
from tests.simulation.generator.arrivals import bring_mail
from tests.simulation.generator.cast import Cast
from tests.simulation.settling import run_task
from tests.simulation.tasks import Task
from tests.simulation.world import DAY, HOUR, MINUTE

LANES = ("filters.tick", "filters.own_windows", "filters.unproven_windows")


def plot(cast: Cast) -> None:
    """Have one of these happen that has happened least."""
    kinds = cast.lots.sample(_KINDS, len(_KINDS))
    kind = min(kinds, key=lambda kind: cast.used[kind])
    cast.used[kind] += 1
    kind(cast)


def take_days_off(cast: Cast) -> None:
    """Have mail wait for an answer that comes before days on which somebody does not work."""
    name = cast.lots.choice(cast.names)
    zone = ZoneInfo(str(cast.people[name].get("time_zone") or "UTC"))
    today = to_datetime(cast.world.now).astimezone(zone).date()
    days = "\n".join(f"{today + timedelta(days=n):%Y-%m-%d}" for n in (0, 1, 2))
    cast.tell_person(name, workdays="0123456", holidays=days)
    cast.note_filters("recompiled", set())
    more = {"timeliness": "after 1 working day", "mail": "existing"}
    beginnings.write(cast, name, "with no reply", "live", **more)
    _find(cast)


def star_again(cast: Cast) -> None:
    """Have a filter star what another has starred, and its owner something between."""
    name = cast.lots.choice(cast.names)
    acts: dict[str, Any] = {
        "acts": ["star"],
        "acts_existing": "on",
        "mail": "existing",
        "timeliness": "at once",
    }
    beginnings.write(cast, name, "not from mary", "keep", **acts)
    _find(cast)
    cast.world.pass_time(MINUTE)
    starred = {row["msgid"] for row in cast.world.select(_STARRED, name)}
    others = [msgid for msgid in cast.listed(name) if msgid not in starred]
    if others:
        desk.act(cast, name, "star", [cast.lots.choice(others)])
    cast.world.pass_time(MINUTE)
    beginnings.write(cast, name, "not from bill", "keep", **acts)
    _find(cast)


_STARRED = """
SELECT s.msgid FROM inbox_messagestate s JOIN people_user u ON u.id = s.owner_id
WHERE u.username = ? AND s.starred_at IS NOT NULL"""


def read_newest(cast: Cast) -> None:
    """Have somebody who has a line for each conversation read the newest message of one alone."""
    named = [name for name in cast.names if cast.people[name].get("conversations")]
    for name in cast.lots.sample(named, min(len(named), 1)):
        listed = set(cast.listed(name))
        replies = [row for row in cast.mail.rows if row["msgid"] in listed]
        replies = [row for row in replies if row["inreplyto"] in listed]
        if replies:
            reply = cast.lots.choice(replies[-8:])
            desk.act(cast, name, "unread", [reply["inreplyto"]])
            desk.act(cast, name, "read", [reply["msgid"]])


def change_star(cast: Cast) -> None:
    """Have somebody unstar, or put off, what a shelf of theirs had as it was looked at."""
    looks = [
        entry
        for entry in cast.history.entries[-4000:]
        if entry.get("kind") == "page" and entry["page"] == "shelf" and entry["msgids"]
    ]
    looks = [look for look in looks if look["person"] in cast.names]
    if looks:
        look = cast.lots.choice(looks[-8:])
        back = {"starred": "unstar", "done": "inbox", "snoozed": "unsnooze"}[look["name"]]
        desk.act(cast, look["person"], back, [cast.lots.choice(look["msgids"])])


def set_clock_back(cast: Cast) -> None:
    """Have the clock be set back while a letter waits for a time to come."""
    letters.write_letter(cast)
    run_task(cast.world, Task("filters.send_outbox"))
    cast.world.pass_time(3 * MINUTE)
    run_task(cast.world, Task("filters.send_outbox"))
    cast.world.step_clock(-cast.lots.choice((2 * HOUR, 5 * HOUR, DAY)))
    run_task(cast.world, Task("filters.send_outbox"))
    cast.world.pass_time(MINUTE)
    run_task(cast.world, Task("filters.send_outbox"))


_KINDS = (take_days_off, star_again, read_newest, change_star, set_clock_back)


def _find(cast: Cast) -> None:
    bring_mail(cast)
    for lane in LANES:
        run_task(cast.world, Task(lane))
