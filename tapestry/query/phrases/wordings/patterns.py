"""Patterns over the words of a request.

A word in capitals is a class of the lexicon, ``{name:CLASS}`` one whose words are kept under a
name.  ``?`` may be left out, ``(a | b)`` are alternatives, ``^`` and ``$`` are the beginning and
the end of the request.  All else is a word as it stands, in large or small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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

    >>> [sorted(words) for words in words_needed("^ (all | the)? {who:NAME} (ASK | tell) me")]
    [['ask', 'asked', 'asking', 'asks', 'tell'], ['me']]
    """
    return _needed(iter(_ELEMENT.findall(pattern)))[0]


def _needed(elements: Iterator[str]) -> tuple[list[frozenset[str]], str]:
    """Return the sets of a group, and the element that ends it."""
    needed: list[frozenset[str]] = []
    ways, element = [needed], ""
    for element in elements:
        if element in (")", ")?"):
            break
        if element == "|":
            needed = []
            ways.append(needed)
        elif element == "(":
            inner, end = _needed(elements)
            needed += inner if end == ")" else []
        elif element not in _SIGNS and not element.endswith("?"):
            slot = _SLOT.fullmatch(element)
            words = first_words_of(slot[2] if slot else element)
            needed += [words] if words else []
    if len(ways) > 1:
        needed = [frozenset().union(*(way[0] for way in ways))] if all(ways) else []
    return needed, element


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
