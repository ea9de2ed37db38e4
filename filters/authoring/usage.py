"""Who uses a filter, or an aggregate: whose filters refer to it, and what its owner is told of it.

A number is told to all.  Filters are named to their owners, and to others if they are shared.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from filters.authoring.models import Aggregate, Filter, Reference


@dataclass(frozen=True, slots=True)
class Usage:
    """The filters that refer to one, also through others, as people call them.

    ``own`` are the owner's, ``shared`` those that others share, each with whose it is; ``people``
    counts the others, whatever they share.
    """

    own: tuple[str, ...]
    shared: tuple[str, ...]
    people: int

    @property
    def words(self) -> str:
        """Say who uses the filter; "" if nobody does.

        >>> Usage(("late",), ("mary’s digest",), 2).words
        '2 other people use it (mary’s digest), and so does your filter late.'
        >>> Usage(("late", "long"), (), 0).words, Usage((), (), 1).words
        ('Your filters late and long use it.', 'One other person uses it.')
        """
        one, many = "One other person uses it", f"{self.people} other people use it"
        others = (one if self.people == 1 else many) if self.people else ""
        if self.shared and others:
            others += f" ({', '.join(self.shared)})"
        if not self.own:
            return others and f"{others}."
        *first, last = self.own
        names = f"{', '.join(first)} and {last}" if first else last
        plural = "s" if first else ""
        if others:
            return f"{others}, and so do{'' if first else 'es'} your filter{plural} {names}."
        return f"Your filter{plural} {names} use{'' if first else 's'} it."


def usage_of(of: Filter | Aggregate) -> Usage:
    """Return who uses a filter or an aggregate, as its owner is told."""
    users = Filter.objects.filter(references__in=_references([of]))
    if isinstance(of, Filter):
        users = users.exclude(pk=of.pk)
    own = users.filter(owner=of.owner_id).order_by("name")
    others = users.exclude(owner=of.owner_id)
    shared = others.filter(visibility=Filter.Visibility.SHARED).select_related("owner")
    return Usage(
        tuple(used.display_name for used in own),
        tuple(
            f"{used.owner.get_username()}’s {used.display_name}"
            for used in shared.order_by("owner__username", "name")
        ),
        others.values("owner").distinct().count(),
    )


def people_using(filters: Collection[Filter]) -> dict[int, int]:
    """Return how many people beside its owner use each filter, by its key, in one query."""
    if not filters:
        return {}
    keys = {_name(filter_): filter_ for filter_ in filters}
    counted = dict.fromkeys((filter_.pk for filter_ in filters), 0)
    rows = _references(filters).values("owner", "name", "filter__owner__username")
    for row in rows.annotate(Count("pk")):
        filter_ = keys[row["owner"], row["name"]]
        counted[filter_.pk] += row["filter__owner__username"] != filter_.owner.get_username()
    return counted


def _name(of: Filter | Aggregate) -> tuple[str, str]:
    return of.owner.get_username().lower(), of.reference_name.lower()


def _references(named: Collection[Filter | Aggregate]) -> QuerySet[Reference]:
    wanted = Q()
    for of in named:
        owner, name = _name(of)
        wanted |= Q(owner=owner, name=name)
    return Reference.objects.filter(wanted).order_by()
