"""What everybody wants as a world begins: filters that find much, and ways by which it leaves."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from tests.simulation import browsers
from tests.simulation.generator import people
from tests.simulation.generator.cast import Cast
from tests.simulation.generator.doings import TIMELINESS, acts_for, filter_rows, may_wait

KEPT = (
    "from joe or from mary or from bill",
    "m.size > 0",
    "from joe or tagged later",
    "from mary or with no reply",
    "one day old with no reply",
    "two days old with no reply or from bill",
)
LIVE = (
    *("with no reply", "not tagged later", "newer than two days", "with fewer than two replies"),
    "replied to",
)
"""Texts of filters that find most of what comes; what a live one has found leaves it again."""

OFTEN = ("", "", "", *TIMELINESS)

MAIL = ("digest", "forward")
KINDS = (*MAIL, "webhook", "push")
"""Ways of delivery but that of a mailbox."""


def begin(cast: Cast) -> None:
    """Have everybody write a filter or two that find much, and have it sent in every way."""
    lots = cast.lots
    for person in cast.names:
        if lots.random() < 0.4:
            people.rest_of(cast, person)
        made = [write(cast, person, lots.choice(KEPT), "keep")] if lots.random() < 0.8 else []
        made += [write(cast, person, lots.choice(LIVE), "live")] if lots.random() < 0.6 else []
        mine = [key for keys in made for key in keys]
        for kind in lots.sample(KINDS, lots.choice((0, 1, 1, 2))):
            some = sorted(lots.sample(mine, 1)) if mine and lots.random() < 0.4 else None
            send_to(cast, person, kind, some)
    sent_by = {told["kind"] for told in cast.told_destinations.values()}
    for kind in KINDS:
        if kind not in sent_by:
            send_to(cast, lots.choice(cast.names), kind, None)
    if lots.random() < 0.4:
        lend(cast)


def lend(cast: Cast) -> None:
    """Have somebody share a filter, and somebody else use it as it is."""
    lots = cast.lots
    lender, borrower = lots.sample(cast.names, 2)
    made = write(cast, lender, lots.choice(KEPT), "keep", visibility="shared")
    for row in filter_rows(cast, exp.column("id", "f").isin(*made)):
        write(cast, borrower, f"in {lender}'s {row['name']}", lots.choice(("keep", "live")))


def write(cast: Cast, person: str, text: str, mode: str, **more: Any) -> list[int]:
    """Have somebody write a filter; return its key."""
    lots = cast.lots
    cast.made += 1
    if mode == "keep" and may_wait(cast, text):
        mode = "wait"
    sent = {
        "text": text,
        "name": f"f{cast.made}",
        "mail": lots.choice(("existing", "existing", "new")),
        "mode": mode,
        "timeliness": lots.choice(OFTEN),
        "visibility": lots.choice(("private", "shared")),
        **({"while_unread": "on"} if lots.random() < 0.2 else {}),
        **acts_for(cast),
        **more,
    }
    answer = cast.request(person, "post", "/filters/new/", sent)
    rows = filter_rows(cast, "u.username = ? AND f.name = ?", person, sent["name"])
    for row in rows:
        cast.note_filter(row, existing=sent["mail"] == "existing", asked=sent)
    if not rows:
        status = answer and answer["status"]
        cast.history.add("refused", page="/filters/new/", text=text, status=status)
    return [row["key"] for row in rows]


def send_to(cast: Cast, person: str, kind: str, filters: list[int] | None) -> None:
    """Have somebody want matches sent somewhere: those of some filters, or of all."""
    if kind == "push":
        ask_to_notify(cast, person)
        return
    cast.made += 1
    address = f"{kind}.{cast.made}@out.example" if kind in MAIL else ""
    settings = {} if address else {"url": f"http://127.0.0.1:80/hook/{cast.made}", "beat": True}
    told: dict[str, Any] = {"person": person, "kind": kind, "filters": filters}
    told["name"] = f"d{cast.made}"
    key = cast.order("destination", address=address, settings=settings, **told)
    for row in cast.world.select("SELECT cursor, uid FROM delivery_destination WHERE id = ?", key):
        cast.tell_destination(key=key, address=address, url=settings.get("url"), **told, **row)


_GIVEN_UP = """
SELECT DISTINCT u.username AS person FROM delivery_destination d JOIN people_user u
ON u.id = d.owner_id WHERE d.kind = 'push' AND NOT d.active ORDER BY u.username"""


def ask_again(cast: Cast) -> None:
    """Have browsers that were given up by their service ask for notifications again."""
    for row in cast.world.select(_GIVEN_UP):
        ask_to_notify(cast, row["person"])


_NOTIFIED = """
SELECT d.id, d.uid, d.cursor, d.active FROM delivery_destination d JOIN people_user u
ON u.id = d.owner_id WHERE d.kind = 'push' AND u.username = ? ORDER BY d.id"""


def ask_to_notify(cast: Cast, person: str) -> None:
    """Have a browser ask for notifications: a new one, or one that was given up by its service."""
    known = {cast.browsers[row["uid"]]: row for row in cast.world.select(_NOTIFIED, person)}
    given_up = [number for number, row in known.items() if not row["active"]]
    cast.made += 1
    number = given_up[0] if given_up else cast.made
    sent = {"subscription": browsers.subscription(number)}
    cast.request(person, "post", "/delivery/push/subscribe/", sent)
    for row in cast.world.select(_NOTIFIED, person):
        if row["uid"] in cast.browsers:
            continue
        cast.browsers[row["uid"]] = number
        told = {"person": person, "kind": "push", "name": f"d{number}", "filters": None}
        told |= {"address": "", "url": browsers.address(number)}
        cast.tell_destination(key=row["id"], uid=row["uid"], cursor=row["cursor"], **told)
