"""Sources that are behind: up to which instant all of their mail is here, and whose that is."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import F, Q, QuerySet
from django.utils.timesince import timesince

from filters.people import people
from filters.people.models import User
from filters.site.templatetags.mail import moment, time_words
from filters.sources.models import OVERDUE, Source
from tapestry.core.clock import MINUTE, SECOND, WEEK, wall_clock

SLACK = 5 * MINUTE
"""How long a source may be behind, besides two of its intervals, before it is called so."""

SHOWN = 3
"""Sources that are named in one place."""


def behind() -> QuerySet[Source]:
    """Return the sources in use of which mail is missing that it had a while ago."""
    now = wall_clock()
    late = Q(failures__gt=0) | Q(due_at__lt=now - OVERDUE) | Q(complete_until=None)
    late |= Q(complete_until__lt=now - SLACK - 2 * SECOND * F("every"))
    return Source.objects.filter(late, active=True, owner__is_active=True)


def sentences(person: User) -> Iterator[str]:
    """Say which sources are behind of those whose mail a person sees, and by how much.

    Their own are named, and no others: of these it is said that there are some, for a week.
    """
    own = behind().filter(owner=person)
    yield from (sentence(source) for source in own[:SHOWN])
    lately = behind().filter(complete_until__gte=wall_clock() - WEEK).exclude(owner=person)
    if lately.filter(audience__in=people.audiences(person)).exists():
        yield "Other people’s sources, whose mail you see, are behind."


def sentence(source: Source) -> str:
    """Say by how much a source is behind, and why."""
    until = source.complete_until
    if until is None and source.pulled_at is None:
        words = f"No mail of {source} has come yet"
    elif until is None:
        words = f"{source} has not been read to its end yet"
    else:
        words = f"{source} is {_passed(until)} behind"
    waits = ", for it waits for its turn." if source.due_at < wall_clock() - OVERDUE else "."
    return f"{words}: {source.error}" if source.error else f"{words}{waits}"


def complete_words(source: Source) -> str:
    """Say up to when all mail of a source is here, and by how much that is behind."""
    until = source.complete_until
    if until is None:
        return "not read to its end yet"
    late = until < wall_clock() - SLACK - 2 * SECOND * source.every
    return f"complete up to {time_words(until)}{f' · {_passed(until)} behind' if late else ''}"


def _passed(instant: int) -> str:
    """Return how long ago an instant was, in its largest unit."""
    then = moment(instant)
    if then is None:
        return "long"
    return timesince(then, moment(wall_clock()), depth=1).replace("\xa0", " ")
