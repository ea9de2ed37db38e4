"""The names that a person may want to write in a filter: only what they may see."""

from __future__ import annotations

import re

from filters.authoring.models import Filter
from filters.people import people
from filters.people.known_names import known_names
from filters.people.models import User
from filters.site.work.parts import services
from tapestry.query.phrases.help.completion import LONGEST
from tapestry.query.phrases.help.vocabulary import Vocabulary

MOST = 200

_OWNER = re.compile(r"([^\s(),\"“”]{1,150})['’]s(?![^\s(),\"“”])")


def vocabulary(user: User, text: str) -> Vocabulary:
    """Return the names that a user may want in this text.

    Another person's shared filters are looked up once the text names that person, among its
    first ``LONGEST`` characters.
    """
    names = known_names(services.tables(), people.audiences(user))
    filters = tuple(user.filters.order_by("name").values_list("name", flat=True)[:MOST])
    return Vocabulary(
        filters,
        _shared(user, text),
        names.newsgroups,
        names.lists,
        names.people,
        names.tags,
        names.annotators,
        names.recipients,
    )


def _shared(user: User, text: str) -> tuple[tuple[str, str], ...]:
    owners = {form for owner in _OWNER.findall(text[:LONGEST]) for form in (owner, owner.lower())}
    if not owners:
        return ()
    filters = Filter.objects.filter(owner__username__in=owners)
    visible = filters.filter(visibility=Filter.Visibility.SHARED) | filters.filter(owner=user)
    rows = visible.order_by("name").values_list("owner__username", "name")[:MOST]
    return tuple((owner, name) for owner, name in rows)
