"""People who agree with a reader, as far as the reader may see their votes, and who is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from filters.people import people
from filters.people.models import User
from filters.site.work.parts import services
from tapestry.core.agreement import Agreement, agreements, is_vote
from tapestry.core.annotations import standing
from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS
from tapestry.tables.read.messages import Card, annotations_on, cards, lookup
from tapestry.tables.rows import annotation_row, arrow_schema

MOST_VOTES = 5000
"""Votes of a person, the newest, that the page looks at."""

MOST_PEOPLE, MOST_MESSAGES = 50, 5
"""People whom the page shows, and messages of each, alike and not."""

MOST_LEFT_OUT = 500


@dataclass(frozen=True, slots=True)
class Colleague:
    """Somebody with whom a reader has votes in common, and some messages of these."""

    agreement: Agreement
    is_left_out: bool
    agreed: tuple[Card, ...]
    disagreed: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Colleagues:
    """Colleagues who are shown, how many more there are, and who else is left out."""

    shown: tuple[Colleague, ...]
    more: int
    others_left_out: tuple[str, ...]


def agreements_with(user: User) -> list[Agreement]:
    """Return who has votes in common with a person, those who agree most first."""
    tables, audiences, name = services.tables(), people.audiences(user), user.get_username()
    columns = arrow_schema(ANNOTATIONS).names
    rows = lookup(tables, ANNOTATIONS, "owner", [name], audiences, columns)
    mine = filter(is_vote, standing(annotation_row(row).annotation for row in rows))
    msgids = [vote.msgid for vote in mine][-MOST_VOTES:]
    there = annotations_on(tables, msgids, audiences)
    return agreements(standing(row.annotation for row in there), name)


def colleagues_of(user: User) -> Colleagues:
    """Return what the page shows of those who agree with a person, and of those who do not."""
    every = agreements_with(user)
    shown = every[:MOST_PEOPLE]
    msgids = {msgid for agreement in shown for msgid in _newest(agreement)}
    found = cards(services.tables(), msgids, people.audiences(user))

    def among(messages: tuple[str, ...]) -> tuple[Card, ...]:
        return tuple([found[msgid] for msgid in _last(messages) if msgid in found])

    left_out = set(user.left_out)
    return Colleagues(
        tuple(
            [
                Colleague(it, it.person in left_out, among(it.agreed), among(it.disagreed))
                for it in shown
            ]
        ),
        len(every) - len(shown),
        tuple(sorted(left_out - {agreement.person for agreement in shown})),
    )


def _newest(agreement: Agreement) -> Iterator[str]:
    yield from _last(agreement.agreed)
    yield from _last(agreement.disagreed)


def _last(msgids: tuple[str, ...]) -> Iterator[str]:
    """Yield the newest, once each."""
    return islice(dict.fromkeys(reversed(msgids)), MOST_MESSAGES)


def leave_out(user: User, name: str, *, out: bool) -> None:
    """Leave somebody out of who agrees with a person, or count them again.

    The person's filters that say “people who agree with me” mean the others from now on.  Raises
    TapestryError if there is nobody of this name with whom they have votes in common.
    """
    stored = list(User.objects.values_list("left_out", flat=True).get(pk=user.pk))
    if out == (name in stored):
        return
    if out and not any(agreement.person == name for agreement in agreements_with(user)):
        raise TapestryError(
            f"You have too few votes in common with “{name}”.", hint="Choose somebody of the list."
        )
    if out and len(stored) >= MOST_LEFT_OUT:
        raise TapestryError(f"You leave out {MOST_LEFT_OUT} people.", hint="Count one again first.")
    user.left_out = sorted([*stored, name] if out else [who for who in stored if who != name])
    with user.saving(["left_out"]) as save:
        save()
