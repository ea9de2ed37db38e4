"""Scopes: the matches that a claim is of, by filter and position in the release sequence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from filters.authoring.models import Filter
from filters.delivery.mail.addresses import usable
from filters.delivery.models import Destination
from filters.inbox.models import Match
from filters.site.work.db.batching import batched

FILTERS = 500
"""Filters that one query names."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The matches of some filters, each of those after its start, up to one position."""

    starts: Mapping[int, int]
    until: int

    def has(self, filter_id: int, position: int) -> bool:
        """Tell whether the match of a filter at a position is in this scope."""
        start = self.starts.get(filter_id)
        return start is not None and start < position <= self.until


def served() -> QuerySet[Destination]:
    """Return what is turned on, of people who may sign in, with an address that can be used."""
    return Destination.objects.filter(usable(), active=True, owner__is_active=True)


def scopes_of(untils: Mapping[Destination, int]) -> dict[int, Scope]:
    """Return the scope of each destination, by its key: from its cursor up to a position.

    A destination takes the matches of a filter after it has subscribed to it.
    """
    owners = {destination.owner_id for destination in untils if destination.all_filters}
    filters: dict[int, list[int]] = defaultdict(list)
    for owner, filter_id in Filter.objects.filter(owner__in=owners).values_list("owner", "pk"):
        filters[owner].append(filter_id)
    return {
        destination.pk: Scope(_starts(destination, filters[destination.owner_id]), until)
        for destination, until in untils.items()
    }


def _starts(destination: Destination, of_owner: Collection[int]) -> dict[int, int]:
    since = {row.filter_id: row.since for row in destination.subscriptions.all()}
    if destination.all_filters:
        first = destination.all_since
        since |= {key: min(since.get(key, first), first) for key in of_owner}
    return {key: max(position, destination.cursor) for key, position in since.items()}


def matches_in(scopes: Collection[Scope]) -> Iterator[QuerySet[Match]]:
    """Yield the matches that are in any of the scopes; one may be in more than one query."""
    ranges = {
        (filter_id, start, scope.until)
        for scope in scopes
        for filter_id, start in scope.starts.items()
        if start < scope.until
    }
    for batch in batched(sorted(ranges), FILTERS):
        filters: dict[tuple[int, int], list[int]] = defaultdict(list)
        for filter_id, start, until in batch:
            filters[start, until].append(filter_id)
        chosen = Q()
        for (start, until), keys in filters.items():
            chosen |= Q(filter__in=keys, sequence__gt=start, sequence__lte=until)
        yield Match.objects.filter(chosen)
