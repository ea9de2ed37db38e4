"""Writing filters: how a text is understood, installing one, changing one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import transaction

from filters import parts, people
from filters.models import Filter
from filters.stores import DjangoClock
from tapestry.core.clock import BEGINNING
from tapestry.tables.append import read_until

if TYPE_CHECKING:
    from tapestry.query.context import Context

LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Understood:
    """How a filter's text was read: in its canonical phrase, where it has one, and in TQL."""

    phrase: str | None
    tql: str
    warnings: tuple[str, ...]


def understand(text: str, context: Context) -> Understood:
    """Read a filter, and compile it as far as a run would.

    Raises TapestryError, with the text in it, where it cannot be.
    """
    from tapestry.plan.compile import compile_query
    from tapestry.plan.explain import warnings
    from tapestry.query.printer import print_tql
    from tapestry.query.read import read

    checked = read(text, context)
    return Understood(checked.phrase, print_tql(checked), warnings(compile_query(checked)))


def install(
    owner: User,
    text: str,
    *,
    name: str = "",
    existing: bool = True,
    timeliness: str = "at once",
    visibility: str = Filter.Visibility.PRIVATE,
) -> Filter:
    """Install a filter, with existing mail or from now on; name it by its phrase if need be.

    Raises TapestryError where the text is not a filter, ValidationError for a bad name.
    """
    understood = understand(text, people.context(owner))
    made = Filter(
        owner=owner,
        name=name or free_name(owner, understood.phrase or "filter"),
        timeliness=timeliness,
        visibility=visibility,
    )
    made.full_clean(exclude=["text"])
    _begin(made, text, understood, _start(existing=existing))
    made.save()
    return made


def rewrite_filter(changed: Filter, text: str, *, existing: bool) -> None:
    """Give a filter another text; what it has delivered stays, and is not delivered again.

    A run of the old text that is under way can no longer be stored.
    """
    understood = understand(text, people.context(changed.owner))
    start = _start(existing=existing)
    with transaction.atomic():
        held = Filter.objects.select_for_update().get(pk=changed.pk)
        held.revision += 1
        _begin(held, text, understood, start)
        held.save()
    changed.refresh_from_db()


def free_name(owner: User, phrase: str) -> str:
    """Return a name made of a phrase's words that this owner has not used yet."""
    stem = re.sub(r"[^a-z0-9]+", "-", phrase.lower()).strip("-")[: LONGEST_NAME - 4].strip("-")
    stem = stem or "filter"
    taken = set(Filter.objects.filter(owner=owner).values_list("name", flat=True))
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    return name


def _start(*, existing: bool) -> int | None:
    """Return T0: None takes existing mail; else the present, as the clock's lock tells it."""
    return None if existing else read_until(parts.tables(), DjangoClock())


def _begin(begun: Filter, text: str, understood: Understood, start: int | None) -> None:
    begun.text = text
    begun.phrase = understood.phrase or ""
    begun.tql = understood.tql
    begun.error = ""
    begun.start = start
    begun.since = BEGINNING if start is None else start
