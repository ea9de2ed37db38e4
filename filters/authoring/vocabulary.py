"""The names that a person may want to write in a filter: only what they may see."""

from __future__ import annotations

import hashlib
import re

from django.contrib.auth.models import User
from django.core.cache import cache

from filters.accounts import people
from filters.models import Filter
from filters.runtime import services
from tapestry.core.errors import TapestryError
from tapestry.query.phrases.completion import LONGEST
from tapestry.query.phrases.vocabulary import Vocabulary
from tapestry.tables.recent_names import Names, recent_names

FRESH = 60
"""Seconds for which the names in the tables are cached: nobody waits for them at each key."""

MOST = 200

_OWNER = re.compile(r"([^\s(),\"“”]{1,150})['’]s(?![^\s(),\"“”])")


def vocabulary(user: User, text: str) -> Vocabulary:
    """Return the names that a user may want in this text.

    Another person's shared filters are looked up once the text names that person, among its
    first ``LONGEST`` characters.
    """
    names = _names(people.audiences(user))
    filters = tuple(user.filters.order_by("name").values_list("name", flat=True)[:MOST])
    return Vocabulary(
        filters,
        _shared(user, text),
        names.newsgroups,
        names.lists,
        names.people,
        names.tags,
        names.annotators,
    )


def _shared(user: User, text: str) -> tuple[tuple[str, str], ...]:
    owners = {form for owner in _OWNER.findall(text[:LONGEST]) for form in (owner, owner.lower())}
    if not owners:
        return ()
    filters = Filter.objects.filter(owner__username__in=owners)
    visible = filters.filter(visibility=Filter.Visibility.SHARED) | filters.filter(owner=user)
    rows = visible.order_by("name").values_list("owner__username", "name")[:MOST]
    return tuple((owner, name) for owner, name in rows)


def _names(audiences: tuple[str, ...]) -> Names:
    seen = hashlib.sha256("\n".join((str(services.data()), *audiences)).encode()).hexdigest()
    key = f"names-{seen}"
    names: Names | None = cache.get(key)
    if names is None:
        try:
            names = recent_names(services.tables(), audiences)
        except (TapestryError, OSError):
            names = Names()
        cache.set(key, names, FRESH)
    return names
