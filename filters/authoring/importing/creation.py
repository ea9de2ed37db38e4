"""Offer the filters of a file to a person, and create those that are chosen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from filters.accounts import people
from filters.authoring import lifecycle
from filters.authoring.forms import FilterForm
from filters.authoring.importing.entries import Entry
from filters.models import Filter
from tapestry.core.errors import TapestryError
from tapestry.query.frontend import read
from tapestry.query.phrases.recognize import canonical_phrase

DEFAULTS = {"mail": "existing", "mode": "keep", "visibility": "private", "timeliness": ""}


@dataclass(frozen=True, slots=True)
class Offer:
    """A filter of a file as the page offers it: how it reads here, and whether it is ticked.

    ``problem`` says why it is not ticked; ``document`` is what the form sends back.
    """

    entry: Entry
    text: str
    problem: str
    is_ticked: bool
    document: str


def offers_of(user: User, entries: Sequence[Entry]) -> list[Offer]:
    """Return what the page offers of the filters of a file."""
    names = set(user.filters.values_list("name", flat=True))
    return [_offer(user, entry, names) for entry in entries]


def create_all(user: User, entries: Sequence[Entry]) -> tuple[list[Filter], list[Offer]]:
    """Create filters; return them, and those that could not be, each with the reason.

    One that refers to another of the file is created after that one.
    """
    created: list[Filter] = []
    waiting = [(entry, "") for entry in entries]
    while waiting:
        refused = []
        for entry, _ in waiting:
            made = _create(user, entry)
            if isinstance(made, Filter):
                created.append(made)
            else:
                refused.append((entry, made))
        if len(refused) == len(waiting):
            offers = [_refused(entry, sentence) for entry, sentence in refused]
            return created, offers
        waiting = refused
    return created, []


def _create(user: User, entry: Entry) -> Filter | str:
    """Create a filter, or return the sentence that says why it cannot be."""
    data: dict[str, Any] = DEFAULTS | dict(entry.options) | {"title": entry.title}
    data["text"] = entry.text
    until = data.pop("until", "")
    form = FilterForm(data | {"until": until if not _is_over(until) else ""}, owner=user)
    if not form.is_valid():
        return " ".join(str(errors[0]) for errors in form.errors.values())
    try:
        made = form.store()
    except TapestryError as error:
        return error.message
    except ValidationError as error:
        return " ".join(error.messages)
    if data.get("paused") or _is_over(until):
        lifecycle.pause(made)
    return made


def _is_over(until: str) -> bool:
    try:
        return bool(until) and date.fromisoformat(until) < date.today()
    except ValueError:
        return False


def _offer(user: User, entry: Entry, names: set[str]) -> Offer:
    problem, text = "", entry.text
    if not entry.text:
        problem = "No condition of it could be translated, so there is nothing to create."
    elif entry.options.get("name") in names:
        problem = "You have a filter of this short name already."
    elif not entry.is_exact:
        problem = (
            "Not all conditions could be translated, so it would find other messages than before."
        )
    if entry.text and not entry.options:
        try:
            checked = read(entry.text, people.context(user))
            text = canonical_phrase(checked) or entry.text
        except TapestryError as error:
            problem, text = error.message, ""
    return Offer(entry, text, problem, not problem, _document(entry, text))


def _refused(entry: Entry, sentence: str) -> Offer:
    return Offer(entry, entry.text, sentence, True, _document(entry, entry.text))


def _document(entry: Entry, text: str) -> str:
    return json.dumps({**entry.options, "title": entry.title, "text": text})
