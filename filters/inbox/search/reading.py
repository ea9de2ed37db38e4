"""How the text in the search box is understood: as a filter, or as words that are mentioned."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from django.utils.text import get_text_list

from filters.authoring.compilation.misreading import Misreading, misreading
from filters.authoring.compilation.understanding import Understood, understand
from filters.authoring.models import Filter
from filters.authoring.vocabulary import vocabulary
from filters.inbox.search.states import without_states
from filters.people import people
from filters.people.models import User
from tapestry.core.errors import TapestryError
from tapestry.query.corrections import corrections
from tapestry.query.operators.reading import are_named_in
from tapestry.query.phrases.help.bare_words import (
    in_subject,
    mentioned_words,
    other_phrases,
    says_words_alone,
)
from tapestry.query.phrases.help.names import other_names
from tapestry.query.phrases.states import State, alternatives
from tapestry.query.readings import other_readings
from tapestry.query.remedies import Correction
from tapestry.query.search import read_search as of_text

EVERYTHING = "TRUE"
"""The filter of all mail: what is left of a search that says nothing but a state."""

_STATE = re.compile(
    r"\A(?:unread|starred|flagged)\s|(?<!\bnot)\s(?:unread|starred|flagged)\Z", re.IGNORECASE
)
"""A word for a state, before words or after them, of which it may be meant."""

_SEPARATOR, _OR = "\x1e", "\x1f"
"""A blank to all who read a text: it stands between what the worker is asked, and nowhere else."""


@dataclass(frozen=True, slots=True)
class SearchReading:
    """What was understood of a text, None if nothing was: ``error`` then says why.

    ``text`` is the filter that it was read as: the text, or phrases made of its words.
    ``subject`` finds these words in subjects, too: each subject finds its own message.
    ``states`` are asked of what ``text`` finds.  ``typed`` is the text of the box.
    ``alternatives`` are searches of which each finds some: “unread or from joe”.
    """

    text: str
    understood: Understood | None
    error: TapestryError | None = None
    subject: str | None = None
    states: tuple[State, ...] = ()
    typed: str = ""
    alternatives: tuple[SearchReading, ...] = ()

    @property
    def is_otherwise(self) -> bool:
        """Return whether it was read as something else than its words say."""
        return " ".join(self.shown.casefold().split()) != " ".join(self.typed.casefold().split())

    @property
    def words(self) -> str:
        """Return the filter that finds all, whatever its state."""
        if self.alternatives:
            texts = [f"({side.words})" for side in self.alternatives if side.text != EVERYTHING]
            return " or ".join(texts) or EVERYTHING
        if self.understood is None or self.subject is None:
            return self.text
        return f"({self.understood.phrase or self.text}) or {self.subject}"

    @property
    def asked(self) -> str:
        """Return what the worker is asked."""
        if self.alternatives:
            sides = [side.asked for side in self.alternatives]
            return _OR.join(sides if self.subject is None else [*sides, self.subject])
        return asked_in_states(self.text, self.states, self.subject) if self.states else self.words

    @property
    def shown(self) -> str:
        """Return how it was understood, in words."""
        if self.alternatives:
            return ", or ".join([side.shown for side in self.alternatives])
        phrase = (self.understood and self.understood.phrase) or self.text
        if self.understood and self.understood.phrase and (words := mentioned_words(phrase)):
            phrase = f"mentioning {get_text_list(words, 'and')}"
        terms = list(map(str, self.states))
        return ", and ".join(terms if terms and self.text == EVERYTHING else [*terms, phrase])


def searches_asked(asked: str) -> list[str]:
    """Return the searches of which each finds some of what is asked."""
    return asked.split(_OR)


def asked_in_states(text: str, states: Iterable[State], subject: str | None) -> str:
    """Return a text with the states asked of what it finds, and what is found in any state."""
    return _SEPARATOR.join((" ".join(map(_written, states)), text, subject or ""))


def parts_asked(asked: str) -> tuple[str, tuple[State, ...], str | None]:
    """Return the text of a search, its states, and what is found beside in any state.

    >>> parts_asked(asked_in_states("from joe", [State("unread", False)], None))
    ('from joe', (State(name='unread', is_wanted=False),), None)
    """
    if _SEPARATOR not in asked:
        return asked, (), None
    states, text, subject = asked.split(_SEPARATOR)
    return text, tuple(map(_read, states.split())), subject or None


def _written(state: State) -> str:
    return state.name if state.is_wanted else f"-{state.name}"


def _read(written: str) -> State:
    return State(written.removeprefix("-"), not written.startswith("-"))


def read_search(text: str, user: User) -> SearchReading:
    """Read the text of a search box: a filter is that; other words are what is mentioned."""
    text = text.replace(_SEPARATOR, " ").replace(_OR, " ")
    if either := _read_alternatives(text, user):
        return either
    try:
        stated = without_states(text)
    except TapestryError as error:
        return SearchReading(text, None, error)
    if stated.states:
        subject = None if stated.is_operator else in_subject(text)
        rest = read_search(stated.text or EVERYTHING, user)
        states = (*stated.states, *rest.states)
        return replace(rest, states=states, subject=subject, typed=text)
    search = of_text(text, people.context(user), understand)
    understood, subject = search.read, search.subject
    phrase = understood and understood.phrase
    finds_all = understood is not None and understood.tql == EVERYTHING
    is_plain = search.error is None and phrase is None
    if is_plain or finds_all or (phrase and says_words_alone(phrase)):
        subject = None
    return SearchReading(search.text, understood, search.error, subject, typed=text)


def _read_alternatives(text: str, user: User) -> SearchReading | None:
    """Read a text of which one side or another is enough, None if none of them is a state."""
    with suppress(TapestryError):
        sides = [read_search(side, user) for side in alternatives(text, _without_states)]
        if sides and all(side.understood for side in sides):
            states = tuple([state for side in sides for state in side.states])
            subject = None if are_named_in(text) else in_subject(text)
            first = replace(sides[0], states=states, subject=subject, typed=text)
            return replace(first, alternatives=tuple(sides))
    return None


def _without_states(text: str) -> tuple[str, tuple[State, ...]]:
    stated = without_states(text)
    return stated.text, stated.states


def other_meanings(text: str, reading: SearchReading, user: User) -> list[str]:
    """Return what else may have been meant by words that were taken for what is mentioned."""
    if reading.understood is None or reading.alternatives:
        return []
    phrase, error = reading.understood.phrase, reading.error
    others = other_readings(reading.typed, phrase, people.context(user))
    if others and not reading.states:
        return list(others)
    if error is None and not (phrase and says_words_alone(phrase)):
        return []
    found: tuple[Correction, ...] = ()
    if error is not None:
        found = corrections(text, error, people.context(user), vocabulary(user, text))
    meant = tuple([correction.applied_to(text) for correction in found]) or other_phrases(text)
    if stated := _STATE.search(text):
        meant = (f"is:{stated[0].strip().lower()} {_STATE.sub(' ', text, 1).strip()}", *meant)
    return [other for other in meant if other not in (reading.text, phrase)]


def meant_names(reading: SearchReading, user: User) -> tuple[str, ...]:
    """Return the search with names that are known in place of those that are nearly so."""
    phrase = reading.understood and reading.understood.phrase
    return other_names(phrase, vocabulary(user, phrase)) if phrase else ()


def misreading_of(text: str, error: TapestryError, user: User) -> Misreading:
    """Return how the page shows a text that is no filter, and no words."""
    return misreading(text, error, people.context(user), vocabulary(user, text))


def as_filter(reading: SearchReading, within: Filter | None, user: User) -> str | None:
    """Return the text of a filter that keeps a search; ``within``: of what that filter matches.

    None if there is no such text: a filter of all mail is not what was asked for, and none may
    depend on what one has read or starred.
    """
    if reading.states:
        return None
    if within is None:
        return reading.text
    phrase = reading.understood and reading.understood.phrase
    for combined in (
        f"({phrase or reading.text}) and in filter {within.name}",
        f'({reading.text}) AND m IN "{within.name}"',
    ):
        with suppress(TapestryError):
            understand(combined, people.context(user))
            return combined
    return None
