"""What the lines of a paragraph are: prose that was wrapped, lines that are meant, or a picture.

Lines are joined only where they are what a program made of longer ones: whatever may be a list, a
table, code, a patch, a poem or a drawing stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

SHORTEST = 45
"""Characters that the longest line of wrapped prose has, at least."""

SHORTEST_OF_TWO = 58
"""Characters of the first line, where there are two."""

LONGEST = 100
"""Characters of the longest: a longer line is not wrapped."""

LEAST_WORDS = 0.75
"""The part of what stands between blanks that is words, at least."""

MOST_WORDS_OF_CODE = 0.8
"""The part of indented lines that is words, above which they are no code."""

_MARKER = re.compile(
    r"\s|o\s|[-*+•·–—»|#%$@=~_\\/<{}\[]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})[.):]\s|[A-Z][\w-]*: |>>>"
)
"""How a line begins that starts something of its own."""

_WORD = re.compile(r"[^\w\s]*[^\W\d_]+(?:['’./-][^\W\d_]+)*[^\w\s]*")
_GAP = re.compile(r"\t|(?<![.?!:;,)”\"'])\s{2,}\S|\s{3,}\S")
_CODE_END = re.compile(r"[{}\\;=|&]\s*$|[^-]-\s*$")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3000-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Scripts that are written without blanks between words (or joined otherwise: Korean)."""

_DRAWN = re.compile(r"[|+=_~*#^<>/\\{}\[\]()\-]")
_PATCH = re.compile(r"diff -|Index: |@@ -\d|(?:---|\+\+\+) \S+[/.\t]")
_OF_PATCH = re.compile(r"[ +\-@\\]|diff |index |Index: |=====|new file|deleted file|$")


class Kind(Enum):
    """How the lines of a paragraph are shown."""

    PROSE = "joined, as one line that the page wraps"
    LINES = "as they are"
    FIXED = "as they are, with letters of equal width"


def kind_of(lines: Sequence[str], *, may_join: bool = True) -> Kind:
    """Return how a paragraph is to be shown.

    >>> kind_of(["    x = 1", "    y = 2"]), kind_of(["Roses are red,", "violets are blue"])
    (<Kind.FIXED: 'as they are, with letters of equal width'>, <Kind.LINES: 'as they are'>)
    """
    if _is_drawn(lines):
        return Kind.FIXED
    if may_join and is_wrapped(lines):
        return Kind.PROSE
    return Kind.LINES


def is_wrapped(lines: Sequence[str]) -> bool:
    """Tell whether lines are surely prose that a program wrapped.

    There must be a width that makes these lines: each fits into it, and none had room for the
    first word of the next.
    """
    if len(lines) < 2:
        return False
    longest = max(map(len, lines))
    first_words = [line.split(None, 1)[0] if line.strip() else "" for line in lines[1:]]
    room = min(
        len(line.rstrip()) + 1 + len(word) for line, word in zip(lines, first_words, strict=False)
    )
    if not SHORTEST <= longest <= LONGEST or longest >= room:
        return False
    if len(lines) == 2 and len(lines[0]) < SHORTEST_OF_TWO:
        return False
    if any(_MARKER.match(line) or _GAP.search(line) for line in lines):
        return False
    if any(_CODE_END.search(line) for line in lines[:-1]):
        return False
    return not _UNSPACED.search("".join(lines)) and _part_of_words(lines) >= LEAST_WORDS


def is_patch(line: str) -> bool:
    """Tell whether a line begins a patch."""
    return _PATCH.match(line) is not None


def is_of_patch(line: str) -> bool:
    """Tell whether a line may belong to a patch that has begun."""
    return _OF_PATCH.match(line) is not None


def _part_of_words(lines: Sequence[str]) -> float:
    words = " ".join(lines).split()
    return sum(_WORD.fullmatch(word) is not None for word in words) / max(1, len(words))


def _is_drawn(lines: Sequence[str]) -> bool:
    """Tell whether columns matter: of a table, code, or a drawing."""
    if any("\t" in line.strip() or re.search(r"\S {3,}\S", line) for line in lines):
        return True
    indented = sum(line.startswith(("  ", "\t")) for line in lines)
    if indented * 2 > len(lines) and _part_of_words(lines) < MOST_WORDS_OF_CODE:
        return True
    text = "".join(lines)
    signs = sum(len(_DRAWN.findall(line)) for line in lines)
    blank = text.count(" ")
    return len(lines) > 1 and signs * 4 > max(1, len(text) - blank)
