"""Phrases that come near to a request that is none: what can be said of its kind."""

from __future__ import annotations

import re
from functools import cache

from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.catalogue.kind import slots_of
from tapestry.query.phrases.help.bare_words import has_clause
from tapestry.query.phrases.help.sentences import FILLERS
from tapestry.query.signs import is_condition
from tapestry.query.tree.parsed import MisreadError, UnsaidError

_MOST = 2
_WORD = re.compile(r"[^\W\d_]{2,}")
_ENDING = re.compile(r"(?:ing|ed|e?s)\Z")
_DOUBLED = re.compile(r"([bdglmnprt])\1\Z")
_SMALL = """
    or not no but by to for in on at as its with be has had been only whom when if person so than
    somebody something someone words word from more everything
"""
_SAYING_LITTLE = FILLERS.union(_SMALL.split())
OTHERWISE = "Leave it out, or say it in other words, such as “from mary” or “about lunch”."
_SENTENCE = 4
"""Words of a text that is more than a phrase with a slip, at least."""


def hint_for(text: str, error: MisreadError) -> str | None:
    """Return what to write in place of a text that is no filter: the phrases nearest to it.

    A hint that is of one of its words stays.

    >>> hint_for("threads where bob was rude", MisreadError("This is no phrase."))
    'You can write, for example, “starting a thread” or “in a thread with Jones”.'
    >>> hint_for("mail andd about lunch", MisreadError("?", hint="Did you mean “mentioning a”?"))
    'Did you mean “mentioning a”?'
    """
    hint, is_unsaid = error.hint, isinstance(error, UnsaidError)
    is_short = len(text.split()) < _SENTENCE or is_condition(text) or "=" in text
    if not is_unsaid and (is_short or not (error.is_general or not hint or has_clause(text))):
        return hint
    near = nearest(text)
    if not near:
        return OTHERWISE if is_unsaid or has_clause(text) else hint
    return f"You can write, for example, {' or '.join(f'“{phrase}”' for phrase in near)}."


def nearest(text: str) -> tuple[str, ...]:
    """Return examples of the kinds of phrases that share the most telling words with a text."""
    scores: dict[str, float] = {}
    for stem in set(_stems(text)):
        for name, weight in _kinds_by_stem().get(stem, {}).items():
            scores[name] = scores.get(name, 0) + weight
    best = sorted(scores, key=lambda name: (-scores[name], KINDS[name].rank))[:_MOST]
    return tuple([KINDS[name].example for name in best])


@cache
def _kinds_by_stem() -> dict[str, dict[str, float]]:
    """Return the kinds that have a word, by its stem: the fewer, the more each weighs."""
    found: dict[str, dict[str, float]] = {}
    for name, kind in KINDS.items():
        words = re.sub(r"{\w+}", "", f"{kind.template} {' '.join(slots_of(kind.template))}")
        for part, weight in ((kind.description, 1.0), (words, 2.0)):
            for stem in _stems(part):
                found.setdefault(stem, {})[name] = weight / len(words.split()) ** 0.5
    return {
        stem: {name: weight / len(kinds) for name, weight in kinds.items()}
        for stem, kinds in found.items()
    }


def _stems(text: str) -> list[str]:
    words = (word for word in _WORD.findall(text.lower()) if word not in _SAYING_LITTLE)
    return [re.sub("[eiy]+$", "", _DOUBLED.sub(r"\1", _ENDING.sub("", word))) for word in words]
