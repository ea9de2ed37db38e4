"""Sentences that are no filter: the phrases that stand in them, and the words to look for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tapestry.query.limits import LETTER
from tapestry.query.phrases.grammar import CONNECTIVES, FIRST_WORDS, KEYWORDS
from tapestry.query.phrases.nodes import NOWHERE, Negated, Phrase, Words
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.phrases.slips import leaves
from tapestry.query.phrases.spellings import NOISE_WORD
from tapestry.query.phrases.wordings.lexicon import LEXICON
from tapestry.query.phrases.wordings.rewording import reworded
from tapestry.query.phrases.words import looked_for
from tapestry.query.tree.parsed import MisreadError

_LONGEST, _MOST_WORDS = 7, 40
"""Words of a phrase in a sentence, and of a sentence."""

_MOST_LOOKED_FOR = 4
_WORD = re.compile(r"[^\s(),;:?!\"“”]+")
_PIECE = re.compile(r"\"[^\"]*\"|“[^”]*”|[^\s,;:?!]+")
_SHORTEST = 3
_NOISE = re.compile(NOISE_WORD, re.IGNORECASE)

_SMALL = """
    about after again all also always and another any are asks awaiting because been before being
    but can cannot certain could day days did does doing done each every except few for from had
    has have having he her his hour hours how into its just know like list may might month months
    more most much must need now only other our out over own please same search see several she
    should show since some somebody someone such than that the their them then there these they
    this those through under until very view want was way week weeks were what when where whether
    which while who whom whose why will with without would year years yet you your
"""
_OF_REQUESTS = {
    word for name in ("MAIL", "BE", "GET", "ME", "I", "WRITE") for word in LEXICON[name].split()
}
_STOPPED = frozenset((*_SMALL.split(), *_OF_REQUESTS, *KEYWORDS, *CONNECTIVES))
_NEGATIVE = (word for word in LEXICON["NOT"].split() if word[-1] == "t" or word == "never")
_DENIALS = frozenset((*_NEGATIVE, "no", "without", "except", "unless", "nobody"))
"""Words after which a phrase would say the opposite."""


def phrases_in(text: str) -> str | None:
    """Return the phrases that stand in a sentence as a filter, None if there is none.

    >>> phrases_in("mail from mary that somebody should look at"), phrases_in("what my boss forgot")
    ('from mary', None)
    """
    words = _PIECE.findall(reworded(text) or text)
    if len(words) > _MOST_WORDS:
        return None
    nodes = [
        (node, length)
        for at, node, length in _scanned(words)
        if node is not None and (at == 0 or words[at - 1].lower() not in _DENIALS)
    ]
    long = [node for node, length in nodes if length > 1]
    parts = dict.fromkeys(print_phrase(node) for node in long or [node for node, _ in nodes])
    return " and ".join(parts) or None


_SAYING_NOTHING = """
    which what where are is was were be been being still already yet there that who the a an all
    any some of my please show find list get give see have has do does did me you it them those
    these and so just want need looking look like search mail mails email emails message messages
"""
FILLERS = frozenset(_SAYING_NOTHING.split())
"""Words that say nothing beside phrases."""


def phrases_of_all(text: str) -> str | None:
    """Return the phrases of a sentence that has only small words beside them, else None.

    >>> phrases_of_all("which mails from bob are still unanswered")
    'from bob and with no reply'
    >>> phrases_of_all("mail from mary that somebody should look at") is None
    True
    """
    words = _PIECE.findall(reworded(text) or text)
    if len(words) > _MOST_WORDS:
        return None
    phrases: dict[str, None] = {}
    for at, node, _ in _scanned(words):
        if node is not None:
            phrases[print_phrase(node)] = None
        elif words[at].lower() not in FILLERS:
            return None
    return " and ".join(phrases) or None


def _scanned(words: list[str]) -> Iterator[tuple[int, Phrase | Negated | None, int]]:
    """Yield places from left to right: the longest phrase there, or none, and its words."""
    at = 0
    while at < len(words):
        node, length = _phrase_at(words, at)
        yield at, node, length
        at += length


def _phrase_at(words: list[str], at: int) -> tuple[Phrase | Negated | None, int]:
    """Return the longest phrase that begins at a place, if any, and by how many words to go on."""
    if words[at].lower() in FIRST_WORDS or words[at].isdigit():
        for end in range(min(len(words), at + _LONGEST), at, -1):
            try:
                node = parse_phrase(" ".join(words[at:end]))
            except MisreadError:
                continue
            if isinstance(node, Phrase | Negated) and all(map(_is_plain, leaves(node))):
                return node, end - at
    return None, 1


def _is_plain(phrase: Phrase) -> bool:
    """Tell whether who is named in a phrase may be somebody: “a” and “send me” are nobody."""
    named = phrase.person.text.lower().split() if phrase.person.kind == "name" else ()
    return not any(len(word) < _SHORTEST - 1 or word in _STOPPED for word in named)


def words_in(text: str) -> str | None:
    """Return the words of a sentence that say what it is about as a filter, None of none.

    >>> words_in("older messages that my boss forgot"), words_in("which of them are they")
    ('mentioning boss and mentioning forgot', None)
    """
    words = dict.fromkeys(word for word in _WORD.findall(text) if _is_looked_for(word))
    nodes = looked_for([Words(word, NOWHERE) for word in list(words)[:_MOST_LOOKED_FOR]])
    return " and ".join(print_phrase(node, "and") for node in nodes) or None


def _is_looked_for(word: str) -> bool:
    plain = word.lower().replace("’", "'")
    is_small = len(word) < _SHORTEST or "'" in plain or plain in _STOPPED
    return bool(LETTER.search(word)) and not is_small and not _NOISE.fullmatch(word)
