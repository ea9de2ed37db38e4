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
from tapestry.query.operators import reading as operators
from tapestry.query.phrases.help.bare_words import (
    in_subject,
    other_phrases,
    says_words_alone,
    with_phrases,
)
from tapestry.query.phrases.help.calendar import dated
from tapestry.query.tree.parsed import MisreadError


@dataclass(frozen=True, slots=True)
class SearchReading:
    """What was understood of a text, None if nothing was: ``error`` then says why.

    ``text`` is the filter that it was read as: the text, or phrases made of its words.  ``asked``
    finds these words in subjects, too: each subject finds its own message.
    """

    text: str
    understood: Understood | None
    error: TapestryError | None = None
    subject: str | None = None

    @property
    def asked(self) -> str:
        if self.understood is None or self.subject is None:
            return self.text
        return f"({self.understood.phrase or self.text}) or {self.subject}"


def read_search(text: str, user: User) -> SearchReading:
    """Read the text of a search box: a filter is that; other words are what is mentioned."""
    context, subject = people.context(user), in_subject(text)
    has_operators = operators.are_named_in(text)
    spans = dated(text, context) or text
    try:
        understood = understand(spans, context)
    except TapestryError as error:
        misread = error
    else:
        may_be_words = understood.phrase and not has_operators
        return SearchReading(spans, understood, None, subject if may_be_words else None)
    is_refused = has_operators and not isinstance(misread, MisreadError)
    for phrases in (with_phrases(spans), None if is_refused else subject):
        if phrases is not None:
            with suppress(TapestryError):
                understood = understand(phrases, context)
                is_other = subject != phrases and not says_words_alone(phrases)
                return SearchReading(phrases, understood, misread, subject if is_other else None)
    return SearchReading(text, None, misread)


def other_meanings(text: str, reading: SearchReading, user: User) -> list[str]:
    """Return what else may have been meant by words that were taken for what is mentioned."""
    if reading.understood is None or reading.error is None:
        return []
    meant = () if reading.text == in_subject(text) else other_phrases(text)
    meant = meant or tuple(
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
