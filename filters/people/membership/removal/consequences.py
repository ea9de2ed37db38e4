"""What the deletion of an account means, before it is decided: what goes, what stays."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from filters.authoring.models import Reference
from filters.people.models import User


@dataclass(frozen=True, slots=True)
class UsedFilter:
    """A filter of a person that others refer to, and how many others."""

    name: str
    people: int


@dataclass(frozen=True, slots=True)
class Consequences:
    """How many filters, sources and destinations go, and which filters others use."""

    filters: int
    sources: int
    destinations: int
    used: tuple[UsedFilter, ...]


def consequences_for(user: User) -> Consequences:
    """Return what the deletion of an account means."""
    used = (
        Reference.objects.filter(owner=user.get_username().lower())
        .exclude(filter__owner=user)
        .values("name")
        .annotate(people=Count("filter__owner", distinct=True))
        .order_by("name")
    )
    return Consequences(
        user.filters.count(),
        user.sources.count(),
        user.destinations.count(),
        tuple(UsedFilter(row["name"], row["people"]) for row in used),
    )


def is_last_administrator(user: User) -> bool:
    """Tell whether nobody could administer the site without this person."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    return user.is_superuser and not others.exists()
