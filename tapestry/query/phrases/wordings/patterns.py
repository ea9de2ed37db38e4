"""Patterns over the words of a request.

A word in capitals is a class of the lexicon, ``{name:CLASS}`` one whose words are kept under a
name.  ``?`` may be left out, ``(a | b)`` are alternatives, ``^`` and ``$`` are the beginning and
the end of the request.  All else is a word as it stands, in large or small letters.
"""

from __future__ import annotations

import re
from functools import cache

from tapestry.query.phrases.wordings.lexicon import class_pattern, first_words_of

_APART = re.compile(r"([,()]|[:;](?=\s|$))")
_ENDING = re.compile(r"[\s?!.…,]+\Z")
_ELEMENT = re.compile(r"\(|\)\??|\||\^|\$|{\w+:[A-Z]+}\??|[^\s()|]+")
_SLOT = re.compile(r"{(\w+):([A-Z]+)}")
_ALIKE = str.maketrans("İıſ\u212a", "iisk")
"""Letters that a regular expression takes for others, beside large and small ones."""
_SIGNS = {"(": "(?:", ")": ")", "|": "|", "^": r"\A", "$": r"\Z"}


def words_of(text: str) -> str:
    """Return a text as patterns take it: each word and each comma followed by one space.

    >>> words_of("Mail from Mary, or Joe?")
    'Mail from Mary , or Joe '
    """
    plain = _ENDING.sub("", text.replace("’", "'"))
    return " ".join(_APART.sub(r" \1 ", plain).split()) + " "


def present_in(text: str) -> frozenset[str]:
    """Return the words of such a text, in letters that patterns take for the same."""
    return frozenset(text.translate(_ALIKE).lower().split())


def words_needed(pattern: str) -> list[frozenset[str]]:
    """Return sets of words: where a pattern matches, a word of each is present.

    >>> [sorted(words) for words in words_needed("^ (all | the)? THREAD? {who:NAME} ASK me")]
    [['ask', 'asked', 'asking', 'asks'], ['me']]
    """
    needed, depth = [], 0
    for element in _ELEMENT.findall(pattern):
        depth += (element == "(") - (element in (")", ")?"))
        if depth == 0 and element == "|":
            return []
        if depth == 0 and element not in _SIGNS and not element.endswith("?"):
            slot = _SLOT.fullmatch(element)
            needed.append(first_words_of(slot[2] if slot else element))
    return [words for words in needed if words]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern, for the words of a text.

    >>> bool(compiled("WHICH? I NOT ANSWER").search(words_of("mail I haven't answered yet")))
    True
    """
    pieces = [_piece(element) for element in _ELEMENT.findall(pattern)]
    return re.compile(r"(?<!\S)" + "".join(pieces), re.IGNORECASE)


def _piece(element: str) -> str:
    """Return the expression of one element of a pattern."""
    if element in _SIGNS or element == ")?":
        return _SIGNS.get(element, ")?")
    bare = element.removesuffix("?") or element
    slot = _SLOT.fullmatch(bare)
    if slot:
        piece = f"(?P<{slot[1]}>{class_pattern(slot[2])}) "
    else:
        piece = f"{class_pattern(bare) if bare.isupper() else re.escape(bare)} "
    return piece if bare == element else f"(?:{piece})?"
