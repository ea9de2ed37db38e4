"""Words that are no phrase, as the phrases that look for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tapestry.core.errors import Span
from tapestry.query.limits import LETTER, MAX_WORD
from tapestry.query.phrases.build import person_of
from tapestry.query.phrases.joining import joined
from tapestry.query.phrases.nodes import Phrase, PhraseNode, Words
from tapestry.query.phrases.spellings import WORD
from tapestry.query.tree.parsed import MisreadError

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


_WORD = re.compile(WORD)
_REPLY = re.compile(r"\A(?:(?:re|fwd?|aw|wg)\s*(?:\[[0-9]+\])?:\s*)+", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<!\w)\*\w")
"""A star before a word: one after a word is then no sign that the word is a beginning."""

_JOINING = ("and", "or", "not", "but")
_EDGES = ".,:;!?…()[]{}<>*“”\"'"


def check_length_of_words(text: str) -> None:
    """Refuse a text with a word that is longer than any line of mail."""
    words = _WORD.finditer(text) if len(text) > MAX_WORD else ()
    match = next((word for word in words if len(word[0]) > MAX_WORD), None)
    if match:
        message = f"This word has more than {MAX_WORD} letters."
        raise MisreadError(message, Span(*match.span()), "Write a shorter one.")


def parse_words(text: str) -> PhraseNode:
    """Return what looks for the words of a text that is no phrase; raises MisreadError if none.

    The “Re:” of a subject that was pasted says nothing.

    >>> from tapestry.query.phrases.printer import print_phrase
    >>> print_phrase(parse_words("Re: my new dog!"))
    'mentioning my and mentioning "new" and mentioning dog'
    >>> print_phrase(parse_words("filt* of *rain*"))
    'mentioning filt and mentioning "of" and mentioning rain'
    >>> print_phrase(parse_words("bloom filt*"))
    'mentioning bloom and mentioning filt*'
    """
    check_length_of_words(text)
    begin = found.end() if (found := _REPLY.match(text)) else 0
    may_be_cut = not _EMPHASIS.search(text)
    words = []
    for match in re.finditer(r"\S+", text[begin:]):
        bare = match[0].strip(_EDGES)
        if LETTER.search(bare):
            start = begin + match.start() + match[0].index(bare)
            is_cut = may_be_cut and text[start + len(bare) :].startswith("*")
            bare += "*" if is_cut else ""
            words.append(Words(bare, Span(start, start + len(bare))))
    if not words or all(word.text.lower() in _JOINING for word in words):
        raise MisreadError("There is no word here.", Span(0, len(text)), "Write “from mary”.")
    return joined("and", looked_for(words))
