"""Phrases that come near to a request that is none: what can be said of its kind."""

from __future__ import annotations

import re
from functools import cache

from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.catalogue.kind import slots_of
from tapestry.query.phrases.help.bare_words import has_clause
from tapestry.query.phrases.help.sentences import FILLERS
from tapestry.query.signs import is_condition

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
_OF_SENTENCES = ("Did you mean “mentioning", "in double quotes", OTHERWISE)
_LONG = 120
_SENTENCE = 4
"""Words of a text that is more than a phrase with a slip, at least."""


def hint_for(text: str, hint: str | None) -> str | None:
    """Return what to write in place of a text that is no filter: the phrases nearest to it.

    A hint that is of one of its words stays.

    >>> hint_for("threads where bob was rude", None)
    'You can write, for example, “starting a thread” or “in a thread with Jones”.'
    >>> hint_for("from joe andd about lunch", "Did you mean “and”?")
    'Did you mean “and”?'
    """
    if hint != OTHERWISE and (len(text.split()) < _SENTENCE or is_condition(text) or "=" in text):
        return hint
    is_sentence = has_clause(text) or not hint or len(hint) > _LONG
    if not is_sentence and not any(words in (hint or "") for words in _OF_SENTENCES):
        return hint
    near = nearest(text)
    if not near:
        return OTHERWISE if has_clause(text) else hint
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
