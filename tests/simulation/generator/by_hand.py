"""Contacts and meetings that people keep by hand: on a page, by a program, or as a file."""

from __future__ import annotations

from typing import Any

from tapestry.core.clock import to_datetime
from tests.simulation.books import Fact
from tests.simulation.generator.cast import PEOPLE, Cast
from tests.simulation.world import DAY, HOUR, SECOND


def keep_contact(cast: Cast, person: str, act: str, address: str, *, by_page: bool = True) -> None:
    """Have somebody, or a program of theirs, add an address to their book, or take it out."""
    if by_page:
        sent = {"act": act, "address": address}
        _do(cast, person, act, [("contact", address, None)], "", "/contacts/", sent)
    else:
        place = "/contacts" if act == "add" else "/contacts/remove"
        said: list[Fact] = [("contact", address.lower(), None)]
        _do(cast, person, act, said, "post", place, {"addresses": [address]})


def give_calendar(cast: Cast, person: str, senders: list[str]) -> None:
    """Have a program of somebody give a file of events, in the place of that before."""
    content, says = _events(cast, person, senders)
    _do(cast, person, "replace", says, "put", "/calendar", {"events": content})


def _do(
    cast: Cast, person: str, act: str, says: list[Fact], method: str, place: str, sent: Any
) -> None:
    cast.note_outbox("page")
    if method:
        answer = cast.call(person, method, place, sent)
    else:
        answer = cast.request(person, "post", place, sent)
    cast.note_outbox("page")
    told = {"person": person, "msgids": [], "status": answer and answer["status"]}
    cast.history.add("act", kind="book", act=act, says=says, **told)


def _events(cast: Cast, person: str, senders: list[str]) -> tuple[str, list[Fact]]:
    """Return a file of events, some of which were cancelled, and what it says."""
    lines, says = ["BEGIN:VCALENDAR"], list[Fact]()
    for number, address in enumerate(senders):
        ahead = cast.lots.choice((HOUR, 2 * DAY, 3 * DAY + SECOND, 8 * DAY))
        starts = (cast.world.now + ahead) // SECOND * SECOND
        stamp = to_datetime(starts).strftime("%Y%m%dT%H%M%SZ")
        lines += ["BEGIN:VEVENT", f"UID:e{number}", f"DTSTART:{stamp}"]
        lines += [f"ATTENDEE:mailto:{address}"]
        is_cancelled = cast.lots.random() < 0.3
        lines += ["STATUS:CANCELLED"] * is_cancelled + ["END:VEVENT"]
        if is_cancelled:
            says.append(("cancelled", f"e{number}", None))
        elif address.lower() != PEOPLE[person]:
            says.append(("meeting", address.lower(), starts))
    return "\r\n".join([*lines, "END:VCALENDAR", ""]), says
