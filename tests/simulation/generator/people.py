"""What becomes of people: their groups, their hours, and those who leave."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tapestry.core.clock import to_datetime
from tests.simulation.generator import pieces
from tests.simulation.generator.cast import ZONES, Cast
from tests.simulation.generator.doings import TIMELINESS, filter_rows


def regroup(cast: Cast) -> None:
    """Have somebody join the group, or leave it, and perhaps something be said there before."""
    if cast.lots.random() < 0.5:
        pieces.say_to(cast, "group:x")
    regroup_one(cast, cast.lots.choice(cast.names))


def regroup_one(cast: Cast, name: str) -> None:
    """Have a person join the group, or leave it."""
    cast.groups[name] = [] if cast.groups[name] else ["x"]
    cast.tell_person(name)
    cast.note_filters("recompiled", set())


AWAKE: dict[str, Any] = {"quiet_from": None, "quiet_to": None, "holiday_until": None}
"""The profile of somebody who does not rest."""


def rest(cast: Cast) -> None:
    """Have somebody choose quiet hours, a holiday, a time zone, or when all is shown."""
    rest_of(cast, cast.lots.choice(cast.names))


def rest_of(cast: Cast, name: str) -> None:
    """Have a person choose one of these."""
    lots = cast.lots
    profile: dict[str, Any] = {}
    match lots.choice(("quiet", "quiet", "loud", "holiday", "zone", "timeliness", "office")):
        case "quiet":
            profile = {"quiet_from": lots.choice((1320, 0, 780)), "quiet_to": lots.choice((420, 1))}
        case "loud":
            profile = AWAKE
        case "holiday":
            day = to_datetime(cast.world.now) + timedelta(days=lots.choice((0, 1, 4, 9)))
            profile = {"holiday_until": f"{day:%Y-%m-%d}"}
        case "zone":
            profile = {"time_zone": lots.choice(ZONES)}
        case "timeliness":
            usual = [choice for choice in TIMELINESS if choice and not choice.startswith("after")]
            profile = {"timeliness": lots.choice(usual)}
        case "office":
            days = [to_datetime(cast.world.now) + timedelta(days=lots.choice((0, 1, 2)))]
            profile = {"workdays": lots.choice(("01234", "0123456", "56"))}
            profile["holidays"] = "\n".join(f"{day:%Y-%m-%d}" for day in days)
    cast.tell_person(name, **profile)
    cast.note_filters("recompiled", set())


def fall_asleep(cast: Cast, name: str) -> None:
    """Have a person choose quiet hours that are over in an hour, at most."""
    zone = ZoneInfo(str(cast.people[name].get("time_zone") or "UTC"))
    clock = to_datetime(cast.world.now).astimezone(zone)
    begin = clock.hour * 60 + clock.minute
    cast.tell_person(name, quiet_from=(begin - 660) % 1440, quiet_to=(begin + 60) % 1440)
    cast.note_filters("recompiled", set())


def go_away(cast: Cast, name: str) -> None:
    """Have a person choose a holiday of some days."""
    day = to_datetime(cast.world.now) + timedelta(days=5)
    cast.tell_person(name, holiday_until=f"{day:%Y-%m-%d}")
    cast.note_filters("recompiled", set())


def wake(cast: Cast, name: str) -> None:
    """Have a person end their quiet hours and their holiday."""
    cast.tell_person(name, **AWAKE)
    cast.note_filters("recompiled", set())


_DESTINATIONS = """
SELECT d.id AS key, d.kind, d.active, u.username AS person FROM delivery_destination d
JOIN people_user u ON u.id = d.owner_id ORDER BY d.id"""


def switch(cast: Cast) -> None:
    """Have somebody turn a destination off, or on again with all that waits, or delete it."""
    rows = cast.world.select(_DESTINATIONS)
    if not rows:
        return
    row = cast.lots.choice([row for row in rows if not row["active"]] or rows)
    hows = ("off", "off", "delete") if row["kind"] in ("webhook", "digest", "forward") else ("off",)
    how = cast.lots.choice(hows) if row["active"] else "on"
    cast.request(row["person"], "post", f"/delivery/{row['key']}/{how}/")
    cast.note_deleted()


def leave(cast: Cast) -> None:
    """Have somebody delete their account: their own mail goes with them."""
    if len(cast.names) < 3:
        return
    name = cast.lots.choice(cast.names)
    cast.note_outbox("page")
    cast.order("leave", name=name)
    cast.names.remove(name)
    cast.backups = 0  # who has left does not come back
    cast.history.add("person", **cast.people[name], removed=True)
    cast.history.add("upkeep", kind="forget", audience=f"user:{name}", before=None)
    cast.note_filters("recompiled", set())


_MORE = ("", " and from joe", " or tagged later", " but not replies")


def borrow(cast: Cast) -> None:
    """Have somebody write a filter over that of somebody else, who shares it or does not."""
    lots, owner = cast.lots, cast.lots.choice(cast.names)
    wanted = lots.choice(("shared", "shared", "private"))
    theirs = [
        row
        for row in cast.filters.values()
        if row["owner"] != owner and row["visibility"] == wanted
    ]
    if not theirs:
        return
    row = lots.choice(theirs)
    more = lots.choice(_MORE)
    text = f"{lots.choice(('in', 'not in'))} {row['owner']}'s {row['name']}{more}"
    cast.made += 1
    sent = {
        "text": text,
        "name": f"f{cast.made}",
        "mail": lots.choice(("existing", "new")),
        "mode": lots.choice(("keep", "live")),
        "timeliness": "",
        "visibility": lots.choice(("private", "shared")),
    }
    answer = cast.request(owner, "post", "/filters/new/", sent)
    for made in filter_rows(cast, "u.username = ? AND f.name = ?", owner, sent["name"]):
        cast.note_filter(made, existing=sent["mail"] == "existing", asked=sent)
        return
    cast.history.add("refused", page="/filters/new/", text=text, status=answer and answer["status"])
