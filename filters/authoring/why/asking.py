"""The question why a message is, or is not, in a filter: what is asked, of what text, for whom.

It is answered over what the asker may see, whoever wrote the filter: the answer follows from that
alone, so it tells nothing of other mail, votes and annotations.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower

from filters.authoring.models import Filter
from filters.authoring.sharing.following import reference_text, shared_with
from filters.people import people
from filters.people.models import User
from filters.runs.store.filter_store import latest_instant
from filters.site.work.parts import services
from filters.site.work.queues.answers import Answers, IsWanted
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree.printer import print_tql

WHYS = Answers("why")
"""``{"part", "at", "audiences"}``: a Part of ``tapestry.run.why`` as plain values, computed for the
audiences at an instant."""

MOST = 200
"""Filters of others among which one may choose."""


def own_filters(user: User) -> QuerySet[Filter]:
    """Return the filters of a user in the order of a list."""
    return Filter.objects.filter(owner=user).order_by(Lower("title"), "name")


def choices(user: User) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the filters that a user may ask about, as a form names them, in groups of a list."""
    own = own_filters(user)
    shared = shared_with(user)[:MOST]
    names = [
        (f"{filter_.owner.get_username()}/{filter_.name}",
         f"{filter_.owner.get_username()}’s {filter_.display_name}")
        for filter_ in shared
    ]  # fmt: skip
    groups = [
        ("Yours", [(filter_.name, filter_.display_name) for filter_ in own.defer("text")]),
        ("Shared by others", names),
    ]
    return [(title, filters) for title, filters in groups if filters]


def named(user: User, name: str) -> Filter | None:
    """Return the filter that a form names, if the user may see it."""
    owner, _, slug = name.rpartition("/")
    mine: QuerySet[Filter] = Filter.objects.filter(owner=user)
    found = shared_with(user).filter(owner__username=owner) if owner else mine
    return found.filter(Q(name=slug)).select_related("owner").first()


def text_for(filter_: Filter, reader: User) -> tuple[str, Context]:
    """Return the text of a filter as a reader may see it in parts, and the context to read it in.

    One that somebody else shares is told apart as far as its own words go; if they name its owner
    or another filter, it is asked as a whole.
    """
    own = people.context(reader, filter_.name)
    if filter_.owner_id == reader.pk:
        return filter_.display_tql or filter_.tql or filter_.text, own
    plain = Context(now=wall_clock(), zone=filter_.owner.zone)
    with suppress(TapestryError):
        means = print_tql(read(filter_.text, plain))
        if means == print_tql(read(filter_.text, people.context(filter_.owner))):
            return filter_.text, plain
    return reference_text(filter_), people.context(reader)


def question(filter_: Filter, msgid: str) -> str:
    """Return what is asked now: a moment later, the answer may be another."""
    return f"{filter_.pk}\n{msgid}\n{latest_instant()}"


def why_for(
    user: User, filter_: Filter, msgid: str, is_wanted: IsWanted = lambda: True
) -> dict[str, Any]:
    """Return how a filter answers about a message, part by part, to a user who may see both."""
    from tapestry.run.ask import Question
    from tapestry.run.why import why

    audiences, at = people.audiences(user), latest_instant()
    text, context = text_for(filter_, user)
    asked = Question(text, context, audiences, at, seconds=settings.PREVIEW_SECONDS)
    engine_on = partial(services.unproven_engine_on, is_wanted=is_wanted)
    part = why(engine_on, services.tables(), asked, msgid)
    if part is None:
        raise TapestryError("There is no such message, or you may not see it.")
    return {"part": asdict(part), "at": at, "audiences": list(audiences)}
