"""Address books and calendars on servers: what changes there, and who has it taken over.

They begin with a script, and draw by lots of their own, step by step: a world without them is as
it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

from tapestry.core.clock import to_datetime
from tests.simulation import sources
from tests.simulation.books import Collection, Fact, Home
from tests.simulation.generator import pieces
from tests.simulation.generator.by_hand import keep_contact
from tests.simulation.generator.cast import PEOPLE, Cast
from tests.simulation.settling import run_task
from tests.simulation.tasks import Task
from tests.simulation.world import DAY, HOUR, NO_FAULT, SECOND

OFTEN = 0.35
"""How often something happens there beside a step."""

AHEAD = (SECOND, HOUR, DAY, 3 * DAY + SECOND, 8 * DAY)
"""How long before meetings begin."""

STRANGERS = ["ann@z.org", "eve@z.org", "max@z.org"]
"""Addresses of people who write no mail."""

Row = dict[str, Any]


def share(cast: Cast) -> Iterator[None]:
    """Have the contacts and meetings of somebody be on servers, and filters speak of them."""
    lots = cast.lots
    person = lots.choice(cast.names)
    for texts in (pieces.KNOWN, pieces.MET):
        pieces.write(cast, texts, person, timeliness="at once")
        pieces.write(cast, texts, person, mode="live", timeliness="at once")
    pieces.enroll(cast)
    for kind in sources.BOOKS:
        home = cast.world.endpoints.books.make(person, kind)
        for path in (*home.collections, home.add()):
            for _ in range(2):
                _put(cast, lots, home, path)
        _add(cast, home)
    yield
    for _ in range(4):
        _happen(cast, lots)
    yield
    for _ in range(4):
        _happen(cast, lots)


def stir(cast: Cast) -> None:
    """Have something happen to what is on servers, beside a step of the world."""
    lots = Random(f"{cast.world.seed} books {cast.history.step}")
    if cast.world.endpoints.books.homes and lots.random() < OFTEN:
        _happen(cast, lots)


def _add(cast: Cast, home: Home) -> None:
    """Have somebody ask for all address books, or calendars, of an account."""
    where = {"kind": home.kind, "host": "dav.example", "security": "tls", "port": "443"}
    sent = {**where, "user": home.user, "secret": "of books", "method": "password"}
    sent |= {"audience": f"user:{home.owner}", "every": "300"}
    known = {row["key"] for row in _rows(cast)}
    cast.request(home.owner, "post", "/sources/new/", sent)
    for task in [task for task in cast.world.queue.tasks if task.name == "filters.run_trial"]:
        cast.world.queue.tasks.remove(task)
        run_task(cast.world, task)
    for row in _rows(cast):
        if row["key"] not in known:
            address = f"/source/{row['key']}/places/"
            cast.request(home.owner, "post", address, {"folder": "*"})


def _happen(cast: Cast, lots: Random) -> None:
    """Have something change on a server, or in a source, or by hand; and mostly be pulled."""
    every = cast.world.endpoints.books.homes.values()
    homes = [home for home in every if home.owner in cast.names]
    if not homes:
        return
    home = lots.choice(homes)
    for _ in range(lots.choice((1, 2, 3, 6))):
        weights, doings = zip(*HAPPENINGS, strict=True)
        (doing,) = lots.choices(doings, weights)
        doing(cast, lots, home)
    if lots.random() < 0.7:
        _pull(cast, lots, home)


def _put(cast: Cast, lots: Random, home: Home, at: str = "") -> None:
    """Have a card, or an event, be written: a new one, or another version of one."""
    path = at or lots.choice(list(home.collections))
    collection = home.collections[path]
    known = sorted(collection.resources)
    name = lots.choice(known) if known and not at and lots.random() < 0.5 else ""
    if not name:
        cast.made += 1
        name = f"{path}r%20{cast.made}"
    content, says = (_card if home.kind == "carddav" else _event)(cast, lots, home)
    if not at and lots.random() < 0.1:
        collection.put(name, "BEGIN:" + "x" * lots.choice((0, 9)), None)
    else:
        collection.put(name, content, says)


def _others(cast: Cast, home: Home) -> list[str]:
    """Return the addresses of whom somebody may know: those of mail without theirs, and more."""
    seen = (row["sender"] for row in cast.mail.rows)
    addresses = {address.lower() for address in seen if "@" in (address or "")}
    return sorted(addresses - {PEOPLE[home.owner]}) + STRANGERS


def _card(cast: Cast, lots: Random, home: Home) -> tuple[str, list[Fact]]:
    others = _others(cast, home)
    addresses = lots.sample(others, min(len(others), lots.choice((0, 1, 1, 2))))
    lines = ["BEGIN:VCARD", "VERSION:3.0", "FN:X"]
    lines += [f"EMAIL;TYPE=home:{address.capitalize()}" for address in addresses]
    says: list[Fact] = [("contact", address, None) for address in addresses]
    return "\r\n".join([*lines, "END:VCARD", ""]), says


def _event(cast: Cast, lots: Random, home: Home) -> tuple[str, list[Fact]]:
    """Return an event that repeats for some days, or was cancelled, and what it says."""
    others, uid = _others(cast, home), f"e{lots.randrange(4)}"
    coming = lots.sample(others, min(len(others), lots.choice((1, 2))))
    starts = (cast.world.now + lots.choice(AHEAD)) // SECOND * SECOND
    days, is_cancelled = lots.choice((1, 1, 3)), lots.random() < 0.3
    stamp = to_datetime(starts).strftime("%Y%m%dT%H%M%SZ")
    lines = ["BEGIN:VCALENDAR", "BEGIN:VEVENT", f"UID:{uid}", f"DTSTART:{stamp}"]
    lines += [f"RRULE:FREQ=DAILY;COUNT={days}"] * (days > 1)
    lines += [f"ATTENDEE:mailto:{address}" for address in (*coming, PEOPLE[home.owner])]
    lines += ["STATUS:CANCELLED"] * is_cancelled + ["END:VEVENT", "END:VCALENDAR", ""]
    days_of = [starts + day * DAY for day in range(days)]
    met: list[Fact] = [("meeting", address, at) for address in coming for at in days_of]
    return "\r\n".join(lines), [("cancelled", uid, None)] if is_cancelled else met


def _delete(cast: Cast, lots: Random, home: Home) -> None:
    """Have a card or an event be deleted."""
    collection = lots.choice(list(home.collections.values()))
    if collection.resources:
        collection.delete(lots.choice(sorted(collection.resources)))


def _regroup(cast: Cast, lots: Random, home: Home) -> None:
    """Have a collection come, or go while there is another."""
    if len(home.collections) > 1 and lots.random() < 0.6:
        del home.collections[lots.choice(list(home.collections))]
    else:
        _put(cast, lots, home, home.add())


def _forget_tokens(cast: Cast, lots: Random, home: Home) -> None:
    """Have a server forget what has changed until now."""
    collection: Collection = lots.choice(list(home.collections.values()))
    collection.oldest = len(collection.changes)


def _say_by_hand(cast: Cast, lots: Random, home: Home) -> None:
    """Have somebody take an address of theirs into their book, or out of it, by hand."""
    act, address = lots.choice(("add", "remove")), lots.choice(_others(cast, home))
    keep_contact(cast, home.owner, act, address, by_page=lots.random() < 0.5)


def _change_source(cast: Cast, lots: Random, home: Home) -> None:
    """Have somebody pause a source, or go on with it; or delete it, and ask for it anew."""
    rows = [row for row in _rows(cast) if row["user"] == home.user]
    for row in rows:
        how = lots.choice(("pause", "pause", "pause", "delete")) if row["active"] else "resume"
        cast.request(row["person"], "post", f"/source/{row['key']}/{how}/")
    if not rows:
        _add(cast, home)


def _fail(cast: Cast, lots: Random, home: Home) -> None:
    """Have a server not answer the next questions, or some after the first."""
    cast.world.endpoints.misbehave("dav", lots.choice((1, 2)), lots.choice((0, 1, 3, 5)))
    _pull(cast, lots, home)


def _pull(cast: Cast, lots: Random, home: Home) -> None:
    """Have a source be pulled, and perhaps something happen meanwhile, or the site end within."""
    world = cast.world
    others: tuple[Callable[[Cast, Random, Home], None], ...] = (_put, _delete, _say_by_hand)
    for row in _rows(cast):
        if row["user"] != home.user:
            continue
        cast.note_outbox("page")
        how = lots.random()
        if how < 0.3:
            world.fault = ("crash", lots.randint(1, 20))
            cast.history.add("fault", kind="crash", at=world.fault[1])
        elif how < 0.6:
            other = lots.choice((*others, _change_source))
            world.plan_meanwhile(partial(other, cast, lots, home), lots.choice((1, 2, 3, 4)))
        run_task(world, Task("filters.pull_source", (row["key"],)))
        world.meanwhile, world.fault = None, NO_FAULT
        cast.note_outbox("page")


HAPPENINGS: tuple[tuple[float, Callable[[Cast, Random, Home], None]], ...] = (
    (6, _put),
    (3, _delete),
    (1, _regroup),
    (1, _forget_tokens),
    (2, _say_by_hand),
    (1, _change_source),
    (1, _fail),
)
"""What happens there, and how often against the others."""


def _rows(cast: Cast) -> list[Row]:
    return sources.rows(cast.world, sources.BOOKS)


def tend(cast: Cast) -> None:
    """Have people look for what has changed, before all comes to rest; mostly in all of it."""
    lots = Random(f"{cast.world.seed} books {cast.history.step} at rest")
    for row in _rows(cast):
        if row["active"] or lots.random() < 0.7:
            how = "look" if row["active"] else "resume"
            cast.request(row["person"], "post", f"/source/{row['key']}/{how}/")


def observe(cast: Cast) -> None:
    """Write down what the servers have of each source, in plain values."""
    told = []
    for row in _rows(cast):
        home = cast.world.endpoints.books.homes[row["user"]]
        resources = [it for at in home.collections.values() for it in at.resources.values()]
        says = sorted({fact for it in resources for fact in it.says or ()}, key=str)
        unread = [it for it in resources if it.says is None]
        may = sorted({fact for it in unread for fact in it.earlier}, key=str)
        is_well = bool(row["active"] and not row["error"])
        told.append({"key": row["key"], "person": row["person"], "kind": home.kind})
        told[-1] |= {"is_well": is_well, "says": says, "may": may}
    if cast.world.endpoints.books.homes:
        cast.history.add("seen", kind="books", rows=told)
