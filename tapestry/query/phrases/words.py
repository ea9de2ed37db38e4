"""Words that are no phrase, as the phrases that look for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tapestry.core.errors import Span
from tapestry.query.limits import LETTER
from tapestry.query.phrases.build import joined, person_of
from tapestry.query.phrases.nodes import Phrase, PhraseNode, Words

MOST = 8
"""Words that are looked for one by one; more of them in a row are looked for as they stand."""

_ADDRESS = re.compile(r"[^\s@]*@[\w-]+(?:\.[\w-]+)+")


def looked_for(words: Sequence[Words]) -> list[PhraseNode]:
    """Return the phrases that stand for words in a row; what has no letter says nothing.

    >>> from tapestry.query.phrases.nodes import NOWHERE
    >>> [phrase.kind for phrase in looked_for([Words("next", NOWHERE), Words("-", NOWHERE)])]
    ['mentioning']
    """
    if len(words) > MOST:
        span = Span(words[0].span.start, words[-1].span.end)
        return [mentioned(Words(" ".join([word.text for word in words]), span))]
    return [mentioned(word) for word in words if LETTER.search(word.text)]


def mentioned(words: Words) -> PhraseNode:
    """Return the phrase that looks for a text; an address is that of a sender or a recipient."""
    span = words.span
    if _ADDRESS.fullmatch(words.text):
        person = person_of(words.text, span)
        return joined("or", [Phrase(kind, span, person=person) for kind in ("from", "to")])
    return Phrase("mentioning", span, words=words)
