"""What the language says of values: LIKE, HAS, comparisons, functions; None is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from unicodedata import combining, normalize

from tests.simulation.auditor.spans import COMPARE

_STROKES = {"Ł": "L", "ł": "l"}
"""Letters with a stroke, which Unicode does not take apart."""


@lru_cache(maxsize=1 << 14)
def words(text: str) -> tuple[str, ...]:
    r"""Return the runs of letters and digits, in lower case and without accents.

    >>> words("Re: Grüße, x_2"), words("Łódź"), words("a\u0308pfel")
    (('re', 'gruße', 'x', '2'), ('lodz',), ('apfel',))
    """
    plain = text if text.isascii() else "".join(map(_without_accent, text))
    return tuple("".join(c if c.isalnum() else " " for c in plain).lower().split())


def _without_accent(letter: str) -> str:
    """Return a letter of the texts of a simulation without its accent, and of an accent nothing."""
    if combining(letter):
        return ""
    base, *accents = list(normalize("NFD", letter))
    return base if accents else _STROKES.get(letter, letter)


def has(text: str | None, wanted: str) -> bool | None:
    """Return whether the wanted words stand in a text; before a star is the beginning of one.

    >>> has("a new filtering", "new filt*"), has("a new filtering", "new filt")
    (True, False)
    """
    if text is None:
        return None
    here, there = words(text), words(wanted)
    size = len(there)
    runs = (here[i : i + size] for i in range(len(here) - size + 1))
    if not wanted.endswith("*"):
        return any(run == there for run in runs)
    return any(run[:-1] == there[:-1] and run[-1].startswith(there[-1]) for run in runs)


@lru_cache(maxsize=4096)
def _pattern(pattern: str) -> re.Pattern[str]:
    expression, escaped = "", False
    for letter in pattern.lower():
        if not escaped and letter == "\\":
            escaped = True
            continue
        wild = {"%": ".*", "_": "."}.get(letter) if not escaped else None
        expression += wild or re.escape(letter)
        escaped = False
    return re.compile(expression + ("\\\\" if escaped else ""), re.DOTALL)


def like(text: str | None, pattern: str) -> bool | None:
    r"""Return whether a text is of a pattern, ignoring case.

    >>> like("100% OK", r"100\% o_"), like("a\nb", "a%"), like("ab", "a")
    (True, True, False)
    """
    return None if text is None else _pattern(pattern).fullmatch(text.lower()) is not None


def compare(left: Any, op: str, right: Any) -> bool | None:
    """Compare as SQL does: unknown if either is NULL."""
    return None if left is None or right is None else COMPARE[op](left, right)


def some(results: Iterable[bool | None]) -> bool | None:
    """Return SQL's ANY: true if one is, else unknown if one is, else false."""
    unknown = False
    for result in results:
        if result:
            return True
        unknown = unknown or result is None
    return None if unknown else False


def call(name: str, args: list[Any]) -> Any:
    """Call a function of the language; all but coalesce are NULL of a NULL."""
    if name == "coalesce":
        return next((arg for arg in args if arg is not None), None)
    if None in args:
        return None
    text = args[0]
    match name:
        case "lower":
            return text.lower()
        case "upper":
            return text.upper()
        case "trim":
            return text.strip(" ")
        case "length":
            return len(text)
        case "substr":
            start = max(args[1] - 1, 0)
            return text[start:] if len(args) == 2 else text[start : start + max(args[2], 0)]
    raise ValueError(f"no function {name}")


def arith(op: str, left: Any, right: Any) -> Any:
    """Return ``left op right``, NULL of a NULL."""
    if left is None or right is None:
        return None
    return left + right if op == "+" else left - right if op == "-" else left * right
