"""What the worker does with a file of filters, and what the page shows of it.

    file ── read_for ──> offers of a page, and what waits ─ ticks ─> create_for ──> the next page

To translate a hundred filters takes a second, and to create them takes two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from filters.authoring.importing.creation import create_all
from filters.authoring.importing.entries import MOST_ENTRIES, Entry, UnreadableFileError
from filters.authoring.importing.files import read_file
from filters.authoring.importing.gmail.filters import translated
from filters.authoring.importing.offers import Offer, offers_of
from filters.authoring.importing.paging import first_page, in_order, pack, unpack
from filters.people import people
from filters.people.models import User
from filters.site.work.queues.answers import Answer, Answers
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon

READINGS = Answers("import")
"""A page of offers (``offered``), or ``{"refusal": sentence, "pasted": text}``."""

CREATIONS = Answers("creation")
"""``{"created": count, "name": of the only one}``, and a page of offers if anything is left."""


def read_for(user: User, raw: bytes, *, is_pasted: bool) -> Answer:
    """Return what a page offers of a file, or why it is refused, with the text if it was pasted."""
    try:
        entries = read_file(raw, people.addresses(user))
    except UnreadableFileError as error:
        return {"refusal": error.message, "pasted": raw.decode() if is_pasted else ""}
    return offered(user, in_order(user, entries))


def create_for(user: User, chosen: Sequence[Mapping[str, str]], rest: str) -> Answer:
    """Create filters, each given by its options; return how many, and what is offered next.

    Those that cannot be created are offered again, with the reason.
    """
    entries = [
        Entry(options.get("title", ""), options.get("text", ""), options=options)
        for options in chosen
    ]
    created, refused = create_all(user, entries)
    waiting = unpack(user, rest)
    if created:
        run_soon(UNPROVEN_WINDOWS)
    answer = offered(user, waiting, refused) if refused or waiting else {}
    name = created[0].display_name if len(created) == 1 else ""
    return answer | {"created": len(created), "name": name}


def offered(user: User, entries: Sequence[Entry], again: Sequence[Offer] = ()) -> Answer:
    """Offer some filters again, and as many others as there is room for; the rest waits."""
    room, context = MOST_ENTRIES - len(again), people.context(user)
    readable = [translated(entry, context) for entry in entries[:room]]
    shown = first_page(readable, room)
    page, rest = readable[:shown], [*readable[shown:], *entries[room:]]
    packed = pack(user, rest)
    return {
        "offers": list(map(_as_json, [*again, *offers_of(user, page, rest)])),
        "rest": packed,
        "waiting": len(rest) if packed else 0,
        "left_out": 0 if packed else len(rest),
    }


def _as_json(offer: Offer) -> dict[str, Any]:
    entry = {
        "title": offer.entry.title,
        "clauses": [asdict(clause) for clause in offer.entry.clauses],
    }
    named = ("text", "problem", "is_ticked", "is_shared", "document", "facts")
    return {"entry": entry} | {name: getattr(offer, name) for name in named}
