"""Create the filters of a file that are chosen."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import ValidationError

from filters.authoring import lifecycle
from filters.authoring.forms import OPTIONS, FilterForm, acts_of
from filters.authoring.importing.entries import Entry
from filters.authoring.importing.offers import Offer, form_problem, refused_offer
from filters.authoring.importing.options import form_data, is_set, period_of
from filters.authoring.models import Filter
from filters.people.models import User
from tapestry.core.errors import TapestryError


def create_all(user: User, entries: Sequence[Entry]) -> tuple[list[Filter], list[Offer]]:
    """Create filters; return them, and those that could not be, each with the reason.

    One that refers to another of the file is created after that one.
    """
    created: list[Filter] = []
    waiting = [(entry, "") for entry in entries]
    while waiting:
        refused = []
        for entry, _ in waiting:
            try:
                created.append(_create(user, entry))
            except TapestryError as error:
                refused.append((entry, error.message))
            except ValidationError as error:
                refused.append((entry, " ".join(error.messages)))
        if len(refused) == len(waiting):
            offers = [refused_offer(user, entry, sentence) for entry, sentence in refused]
            return created, offers
        waiting = refused
    return created, []


def _create(user: User, entry: Entry) -> Filter:
    """Create a filter; raises TapestryError, or ValidationError, if it cannot be."""
    options = entry.options
    data = form_data(options) | {"title": entry.title, "text": entry.text}
    period = period_of(options, user.zone)
    form = FilterForm(data, owner=user)
    if not form.is_valid():
        raise TapestryError(form_problem(form))
    given = form.cleaned_data
    return lifecycle.install(
        user,
        given["text"],
        existing=given["mail"] == "existing",
        start=period.start,
        end=period.end,
        active=not is_set(options, "paused"),
        acts=acts_of(given),
        **{name: given[name] for name in OPTIONS},
    )
