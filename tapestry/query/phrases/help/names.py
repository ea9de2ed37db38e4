"""Names in a phrase that nobody known has, and those that may have been meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice

from tapestry.core.errors import TapestryError
from tapestry.query.phrases.help.vocabulary import Vocabulary
from tapestry.query.phrases.nodes import Joined, Negated, Person, Phrase, PhraseNode
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.printer import print_phrase

MOST = 3
_LIKENESS = 0.7
"""Likeness of a name to the one that was meant."""


def other_names(phrases: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return a filter with known people in place of a name that is nearly theirs.

    >>> known = Vocabulary(people=(("mary@x.org", "Mary Jones"),))
    >>> other_names("from mray about lunch", known), other_names("from mary", known)
    (('from mary and about lunch',), ())
    """
    try:
        node = parse_phrase(phrases)
    except TapestryError:
        return ()
    known = _known(vocabulary)
    texts = [print_phrase(changed) for changed in islice(_changed(node, known), MOST)]
    return tuple(dict.fromkeys(texts))


def _known(vocabulary: Vocabulary) -> list[str]:
    """Return the names that people have: in full, by word, and before the ``@`` of an address."""
    names: dict[str, None] = {}
    for address, name in vocabulary.people:
        written = name.casefold()
        names |= dict.fromkeys((written, *written.split(), address.partition("@")[0]))
    names.pop("", None)
    return list(names)


def _changed(node: PhraseNode, known: list[str]) -> Iterator[PhraseNode]:
    """Yield a tree once for each other name in one place of it."""
    match node:
        case Joined():
            for place, part in enumerate(node.parts):
                for other in _changed(part, known):
                    yield replace(
                        node, parts=(*node.parts[:place], other, *node.parts[place + 1 :])
                    )
        case Negated():
            for other in _changed(node.part, known):
                yield replace(node, part=other)
        case Phrase(person=Person(kind="name", text=text, span=span)):
            lower = text.casefold()
            if lower not in known:
                for name in get_close_matches(lower, known, MOST, _LIKENESS):
                    yield replace(node, person=Person("name", name, span))
