"""Comparison of two texts: nothing is offered in place of a text that says less than it."""

from __future__ import annotations

import difflib
import re

from tapestry.query.phrases.help.sentences import FILLERS
from tapestry.query.phrases.states import STATES
from tapestry.query.phrases.wordings.lexicon import VOCABULARY
from tapestry.query.phrases.wordings.senses import is_known
from tapestry.query.remedies import NEAR, SYNONYMS, VERBS

_WORD = re.compile(r"[\w'’]+")
_JOINTS = "about and at by for from i in of on our to too with"
_DENYING = "but except excluding isn't neither never no nobody nor not only unless without"
_SMALLEST = frozenset((*_JOINTS.split(), *VERBS))
_SMALL = FILLERS | _SMALLEST
_DENIALS = frozenset(_DENYING.split())
_CONDITIONS = frozenset(["if", "only", "when", "whenever", "while"])
_JOINING = _DENIALS | _CONDITIONS | {"or"}
_DENIED = re.compile(r"(?<!\S)(?:no|not|without|except|never|nobody)(?!\S)", re.IGNORECASE)
_EITHER = re.compile(r"(?<!\S)or(?!\S)", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_SAME = 0.85
"""Likeness of a word that is no slip to another form of it."""


def says_less(other: str, text: str, *, is_part: bool = False) -> bool:
    """Tell whether a text leaves out what another says, but for small words and slips.

    A negation or a condition that is a part of a longer text is no slip of another word.

    >>> says_less("from joe", "mail from joe at night"), says_less("replies by", "replise bye")
    (True, False)
    >>> says_less("about lunch", "but lunch"), says_less("not about lunch", "but lunch")
    (True, False)
    """
    words, left = _words(text), set(_words(other))
    if is_part and not _JOINING.isdisjoint(words):
        return True
    if other.startswith("mentioning") and left.issuperset(words):
        return False
    small = _SMALLEST if is_part else _SMALL
    return any(not _is_said(word, other, left, small) for word in words)


def lost_words(other: str, text: str) -> set[str]:
    """Return the words of a text that another has not, but for small ones.

    >>> sorted(lost_words("newer than one week", "unread and starred"))
    ['starred', 'unread']
    """
    return set(_words(text)) - set(_words(other)) - _SMALL - _JOINING


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def _is_said(word: str, other: str, left: set[str], small: frozenset[str]) -> bool:
    bare = _QUOTED.sub(" ", other)
    if word in _JOINING:
        sign = _DENIED if word in _DENIALS else _EITHER
        return word not in _CONDITIONS and sign.search(bare) is not None
    if word in small or word in left:
        return True
    if any(set(_words(meant)) <= left for meant in SYNONYMS.get(word, ())):
        return True
    near = _SAME if is_known(word) or word in VOCABULARY or word in STATES else NEAR
    return bool(difflib.get_close_matches(word, left, 1, near))
