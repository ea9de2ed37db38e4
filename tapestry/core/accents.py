"""Accents: letters that are the same without them, wherever words are compared.

A letter with accents is the one that Unicode takes it apart into, in Latin, Greek and Cyrillic
script; a few more are so by custom.  What would be two letters (ß, æ) stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import ucd_3_2_0

MARKS = tuple(map(chr, range(0x300, 0x370)))
"""Accents that follow their letter."""

MAY_HAVE_ACCENTS = "[\u00c0-\u052f\u1e00-\u1fff\u212b]"
"""The regular expression of a letter that may have accents, or of an accent."""

_BY_CUSTOM = ("ØøĐđŁłĦħŦŧı", "OoDdLlHhTti")
_RANGES = (range(0xC0, 0x530), range(0x1E00, 0x2000), (0x212B,))


def _plain_letters() -> Iterator[tuple[str, str]]:
    """Yield letters with accents, and each without."""
    yield from zip(*_BY_CUSTOM, strict=True)
    for code in (code for codes in _RANGES for code in codes):
        letter, *marks = list(ucd_3_2_0.normalize("NFD", chr(code)))
        if marks and set(marks) <= {*MARKS} and ucd_3_2_0.category(letter)[0] == "L":
            yield chr(code), letter


PLAIN_LETTERS = dict(_plain_letters())
"""Letters without accents, by those with them: one for one, as Spark translates them."""

_WITHOUT = str.maketrans(PLAIN_LETTERS | dict.fromkeys(MARKS, ""))


def fold_accents(text: str) -> str:
    """Return a text with letters without accents.

    >>> fold_accents("Pöhl"), fold_accents("Mu\u0308ller, Łódź"), fold_accents("Straße")
    ('Pohl', 'Muller, Lodz', 'Straße')
    """
    return text if text.isascii() else text.translate(_WITHOUT)
