"""The filters of a file page by page: what comes later waits, signed, in the form of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from django.core import signing

from filters.authoring.importing.entries import MOST_ENTRIES, Clause, Entry
from filters.authoring.importing.offers import existing_of
from filters.people.models import User

LONGEST_PAGE = 1 << 18
"""Bytes of the texts that a page offers, of one filter at least."""

LONGEST_REST = 1 << 20
"""Characters of what waits: the form has room for it beside what it offers."""

MOST_WAITING_CLAUSES = 20_000

_REFERENCE = re.compile(
    r"\bin\s+(?:filter\s+)?(?:[\w.@+-]+['’]s\s+|[\w@+-]+\.)?[\"“]?([a-z0-9-]+)", re.IGNORECASE
)


def in_order(user: User, entries: Sequence[Entry]) -> list[Entry]:
    """Return filters after those that they refer to, and last those that the person has already."""
    existing = existing_of(user, entries)
    ordered = _after_referents(entries)
    titles = {title for title, _ in existing.texts}

    def is_here(entry: Entry) -> bool:
        """Tell whether there is one; of one that is not translated, its title has to tell."""
        is_called_so = bool(entry.properties) and entry.title in titles
        return is_called_so or bool(existing.problem_of(entry))

    return sorted(ordered, key=is_here)


def first_page(entries: Sequence[Entry], room: int = MOST_ENTRIES) -> int:
    """Return how many filters a page with room for some offers.

    >>> first_page([Entry("x", "from x")] * 500), first_page([Entry("x", "x" * 200_000)] * 3)
    (100, 1)
    """
    length = 0
    for number, entry in enumerate(entries[:room]):
        length += len(entry.text.encode()) + len(entry.title.encode())
        if number and length > LONGEST_PAGE:
            return number
    return min(room, len(entries))


def pack(user: User, entries: Sequence[Entry]) -> str:
    """Return filters as a text that this person can send back; empty if they are too many."""
    if not entries or sum(len(entry.clauses) for entry in entries) > MOST_WAITING_CLAUSES:
        return ""
    packed = signing.dumps(list(map(_packed, entries)), salt=_salt(user), compress=True)
    return packed if len(packed) <= LONGEST_REST else ""


def unpack(user: User, packed: str) -> list[Entry]:
    """Return the filters of such a text, none if it is not one of this person's."""
    try:
        return list(map(_unpacked, signing.loads(packed, salt=_salt(user))))
    except signing.BadSignature:
        return []


def _salt(user: User) -> str:
    return f"filters.authoring.importing:{user.pk}"


def _packed(entry: Entry) -> list[Any]:
    clauses = [[part.source, part.text, part.problem, part.is_action] for part in entry.clauses]
    options, properties = dict(entry.options), dict(entry.properties)
    does = [entry.acts, entry.objection, entry.label]
    return [entry.title, entry.text, clauses, entry.is_exact, options, properties, *does]


def _unpacked(packed: list[Any]) -> Entry:
    title, text, clauses, *others = packed
    return Entry(title, text, tuple(Clause(*clause) for clause in clauses), *others)


def _after_referents(entries: Sequence[Entry]) -> list[Entry]:
    """Return filters after those that they seem to refer to, as they are if that is a circle."""
    places = {entry.options.get("name", ""): place for place, entry in enumerate(entries)}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for place, entry in enumerate(entries):
        named = (places.get(name.lower()) for name in _REFERENCE.findall(entry.text))
        sorter.add(place, *{other for other in named if other not in (None, place)})
    ordered: list[Entry] = []
    try:
        sorter.prepare()
    except CycleError:
        return list(entries)
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        ordered += [entries[place] for place in ready]
        sorter.done(*ready)
    return ordered
