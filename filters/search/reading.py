"""How the text in the search box is understood: as a filter, or as words that are mentioned."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from django.contrib.auth.models import User

from filters.accounts import people
from filters.authoring.misreading import Misreading, misreading
from filters.authoring.understanding import Understood, understand
from filters.authoring.vocabulary import vocabulary
from filters.models import Filter
from tapestry.core.errors import TapestryError
from tapestry.query.phrases.bare_words import other_phrases, with_phrases


@dataclass(frozen=True, slots=True)
class SearchReading:
    """What was understood of a text, None if nothing was.

    ``text`` is the filter that is asked: the text, or phrases made of its words; ``others`` are
    what else may have been meant by these.  ``misread``: why a text is no filter.
    """

    text: str
    understood: Understood | None
    misread: Misreading | None = None
    others: tuple[str, ...] = ()


def read_search(text: str, user: User) -> SearchReading:
    """Read the text of a search box: a filter is that; other words are what is mentioned."""
    context = people.context(user)
    try:
        return SearchReading(text, understand(text, context))
    except TapestryError as error:
        misread = misreading(text, error, context, vocabulary(user, text))
    phrases = with_phrases(text)
    if phrases is not None:
        with suppress(TapestryError):
            understood = understand(phrases, context)
            meant = [offered.text for offered in misread.corrections] or other_phrases(text)
            others = tuple(other for other in meant if other not in (phrases, understood.phrase))
            return SearchReading(phrases, understood, others=others)
    return SearchReading(text, None, misread)


def as_filter(reading: SearchReading, within: Filter | None, user: User) -> str:
    """Return the text of a filter that keeps a search; ``within``: of what that filter matches."""
    if within is None:
        return reading.text
    for combined in (
        f"({reading.text}) and in filter {within.name}",
        f'({reading.text}) AND m IN "{within.name}"',
    ):
        with suppress(TapestryError):
            understand(combined, people.context(user))
            return combined
    return reading.text
