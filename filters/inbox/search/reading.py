"""How the text in the search box is understood: as a filter, or as words that are mentioned."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from filters.authoring.compilation.misreading import Misreading, misreading
from filters.authoring.compilation.understanding import Understood, understand
from filters.authoring.models import Filter
from filters.authoring.vocabulary import vocabulary
from filters.people import people
from filters.people.models import User
from tapestry.core.errors import TapestryError
from tapestry.query.corrections import corrections
from tapestry.query.phrases.help.bare_words import other_phrases, with_phrases


@dataclass(frozen=True, slots=True)
class SearchReading:
    """What was understood of a text, None if nothing was: ``error`` then says why.

    ``text`` is the filter that is asked: the text, or phrases made of its words.
    """

    text: str
    understood: Understood | None
    error: TapestryError | None = None


def read_search(text: str, user: User) -> SearchReading:
    """Read the text of a search box: a filter is that; other words are what is mentioned."""
    context = people.context(user)
    try:
        return SearchReading(text, understand(text, context))
    except TapestryError as error:
        misread = error
    phrases = with_phrases(text)
    if phrases is not None:
        with suppress(TapestryError):
            return SearchReading(phrases, understand(phrases, context), misread)
    return SearchReading(text, None, misread)


def other_meanings(text: str, reading: SearchReading, user: User) -> list[str]:
    """Return what else may have been meant by words that were taken for what is mentioned."""
    if reading.understood is None or reading.error is None:
        return []
    meant = other_phrases(text) or tuple(
        correction.applied_to(text)
        for correction in corrections(text, reading.error, people.context(user))
    )
    return [other for other in meant if other not in (reading.text, reading.understood.phrase)]


def misreading_of(text: str, error: TapestryError, user: User) -> Misreading:
    """Return how the page shows a text that is no filter, and no words."""
    return misreading(text, error, people.context(user), vocabulary(user, text))


def as_filter(reading: SearchReading, within: Filter | None, user: User) -> str | None:
    """Return the text of a filter that keeps a search; ``within``: of what that filter matches.

    None if there is no such text: a filter of all mail is not what was asked for.
    """
    if within is None:
        return reading.text
    for combined in (
        f"({reading.text}) and in filter {within.name}",
        f'({reading.text}) AND m IN "{within.name}"',
    ):
        with suppress(TapestryError):
            understand(combined, people.context(user))
            return combined
    return None
