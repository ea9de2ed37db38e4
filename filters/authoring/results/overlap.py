"""Which of a person's filters have found the same messages already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.site.work.db.batching import batched

COMPARED = 2_000
"""The newest messages that are looked for in other filters."""

SHOWN = 3
"""Filters that are named: those that have most of the messages."""


def count_overlap(user: User, msgids: Sequence[str]) -> list[tuple[int, int]]:
    """Return the filters of this user that list most of the newest messages, and how many."""
    own = Match.objects.visible_to(user)
    counts = Counter[int]()
    for batch in batched(msgids[:COMPARED]):
        same = own.filter(msgid__in=batch).order_by().values_list("filter")
        counts.update(dict(same.annotate(Count("pk"))))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]


@dataclass(frozen=True, slots=True)
class Overlap:
    """The filters that have some of the messages, each with how many of the newest it has.

    ``newest`` is how many were compared, 0 if that is all of them.
    """

    filters: list[tuple[Filter, int]]
    newest: int


def overlap_of(
    user: User, overlap: Sequence[tuple[int, int]], text: str, count: int
) -> Overlap | None:
    """Return those filters of an overlap that are there still; None if there are none.

    Not one of the same text: that is the filter which is being looked at.  ``count`` is that of
    all messages found.
    """
    filters = Filter.objects.filter(owner=user).in_bulk([key for key, _ in overlap])
    found = [(filters[key], same) for key, same in overlap if key in filters]
    others = [(filter_, same) for filter_, same in found if filter_.text != text]
    return Overlap(others, COMPARED if count > COMPARED else 0) if others else None
