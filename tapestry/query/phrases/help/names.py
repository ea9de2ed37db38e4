"""Names in a phrase that nobody known has, and those that may have been meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice

from tapestry.core.accents import fold_accents
from tapestry.core.errors import TapestryError
from tapestry.query.phrases.help.vocabulary import RECEIVED, Vocabulary
from tapestry.query.phrases.nodes import Joined, Negated, Person, Phrase, PhraseNode, Words
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.phrases.wordings.senses import is_known

MOST = 3
_LIKENESS = 0.7
"""Likeness of a name to the one that was meant."""

_SOUGHT = ("mentioning", "about", "saying")
"""Kinds of phrases that look for words, which may be any names."""

Known = Mapping[str, Mapping[str, str]]
"""Names by what they are the names of, as they are written, by how they are compared."""


def other_names(phrases: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return a filter with known names in place of one that is nearly theirs.

    They are those of people who wrote or got mail, newsgroups, mailing lists and tags; words that
    are looked for may be any of them.

    >>> known = Vocabulary(people=(("mary@x.org", "Mary Jones"),), newsgroups=("comp.databases",))
    >>> other_names("from mray about lunch", known), other_names("from mary", known)
    (('from mary and about lunch',), ())
    >>> other_names("to mraie", replace(known, recipients=(("", "Marie"),)))
    ('to marie',)
    >>> other_names("in comp.databsaes", known), other_names("mentioning mray", known)
    (('in comp.databases',), ('mentioning mary',))
    >>> other_names('mentioning "answers"', Vocabulary(tags=("answered",)))
    ()
    """
    try:
        node = parse_phrase(phrases)
    except TapestryError:
        return ()
    known = _known(vocabulary)
    texts = [print_phrase(changed) for changed in islice(_changed(node, known), MOST)]
    return tuple(dict.fromkeys(texts))


def is_name_of(people: Iterable[tuple[str, str]], text: str) -> bool:
    """Tell whether a text is a name of some of these people, or a word of one.

    >>> is_name_of([("mary.jones@x.org", "Mary Jönes")], "jones"), is_name_of([], "jones")
    (True, False)
    """
    return fold_accents(text.casefold()) in _compared(_names(people))


def _known(vocabulary: Vocabulary) -> Known:
    names = (*vocabulary.newsgroups, *vocabulary.lists, *vocabulary.tags)
    words = _compared((*_names(vocabulary.everybody), *names))
    return {
        **dict.fromkeys(_SOUGHT, words),
        "person": _compared(_names(vocabulary.people)),
        "recipient": _compared(_names(vocabulary.everybody)),
        "in": _compared(name for name in vocabulary.newsgroups if "." in name),
        "in_newsgroup": _compared(vocabulary.newsgroups),
        "on_list": _compared(
            [*vocabulary.lists, *(name.split(".")[0] for name in vocabulary.lists)]
        ),
        "tagged": _compared(vocabulary.tags),
    }


def _names(people: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the names of people in full, by word, and before the ``@`` of an address."""
    for address, name in people:
        yield from map(str.casefold, (name, *name.split(), address.partition("@")[0]))


def _compared(names: Iterable[str]) -> dict[str, str]:
    return {compared: name for name in names if (compared := fold_accents(name.casefold()))}


def _nearly(text: str, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the names that a text nearly is, if it is none."""
    written = fold_accents(text.casefold())
    if "*" not in written and written not in known:
        for name in get_close_matches(written, known, MOST, _LIKENESS):
            yield known[name]


def _changed(node: PhraseNode, known: Known) -> Iterator[PhraseNode]:
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
        case Phrase(kind=kind, person=Person(kind="name", text=text, span=span)):
            for name in _nearly(text, known["recipient" if kind in RECEIVED else "person"]):
                yield replace(node, person=Person("name", name, span))
        case Phrase(kind=kind, words=Words(text=text)) if kind in _SOUGHT and is_known(text):
            return
        case Phrase(kind=kind, words=Words(text=text, span=span)) if kind in known:
            for name in _nearly(text, known[kind]):
                yield replace(node, words=Words(name, span))
