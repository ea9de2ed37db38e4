"""What the deletion of an account means, before it is decided: what goes, what stays."""

from __future__ import annotations

from typing import Any

from django.db.models import Count

from filters.authoring.models import Reference
from filters.people.models import User


def consequences_for(user: User) -> dict[str, Any]:
    """Return how many filters, sources and destinations go, and which filters others use.

    Of each of these the ``name``, and how many other ``people`` refer to it.
    """
    used = Reference.objects.filter(owner=user.get_username().lower()).exclude(filter__owner=user)
    people = Count("filter__owner", distinct=True)
    return {
        "filters": user.filters.count(),
        "sources": user.sources.count(),
        "destinations": user.destinations.count(),
        "used": used.values("name").annotate(people=people).order_by("name"),
    }


def is_last_administrator(user: User) -> bool:
    """Tell whether nobody could administer the site without this person."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    return user.is_superuser and not others.exists()
