"""What the language says of values, computed the slow way: None is unknown (LANGUAGE.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

from tapestry.core.schema import Type

Row = dict[str, Any]
"""A row of a table, by column: a missing one is NULL, a missing set empty, an audience public."""


def words(text: str) -> list[str]:
    """Return the runs of Unicode letters and digits, in lower case and without accents.

    >>> words("Re: Grüße, x_2")
    ['re', 'gruße', 'x', '2']
    """
    plain = "".join(map(without_accents, text))
    return "".join(c if c.isalnum() else " " for c in plain).lower().split()


def without_accents(letter: str) -> str:
    """Return a letter of Latin, Greek or Cyrillic script without accents, nothing of an accent."""
    if "\u0300" <= letter <= "\u036f":
        return ""
    base, *marks = list(normalize("NFD", letter))
    accents = [mark for mark in marks if "\u0300" <= mark <= "\u036f"]
    if marks and marks == accents and base.isalpha():
        return base
    return letter.translate(str.maketrans("ØøĐđŁłĦħŦŧı", "OoDdLlHhTti"))


def has(text: str | None, wanted: str | None) -> bool | None:
    """Test that the wanted words stand in the text, in order and adjacent, ignoring case.

    Where they end in ``*``, the last is the beginning of a word.

    >>> has("a new filtering", "new filt*"), has("a new filtering", "new filt")
    (True, False)
    """
    if text is None or wanted is None:
        return None
    here, there = words(text), words(wanted)
    places = range(len(here) - len(there) + 1)
    if not wanted.endswith("*"):
        return any(here[i : i + len(there)] == there for i in places)
    *whole, last = there
    return any(
        here[i : i + len(whole)] == whole and here[i + len(whole)].startswith(last) for i in places
    )


def like(text: str | None, pattern: str | None) -> bool | None:
    r"""Test a pattern of ``%``, ``_`` and ``\``-escapes, ignoring case.

    >>> like("100% OK", r"100\% o_")
    True
    """
    if text is None or pattern is None:
        return None
    parts = re.findall(r"\\(?s:.)|(?s:.)", pattern.lower())
    wild = {"%": "(?s:.*)", "_": "(?s:.)"}
    expression = "".join(wild[part] if part in wild else re.escape(part[-1]) for part in parts)
    return re.fullmatch(expression, text.lower()) is not None


def compare(left: Any, op: str, right: Any) -> bool | None:
    """Compare two values as SQL does: unknown if either is NULL."""
    if left is None or right is None:
        return None
    if op == "=":
        return left == right
    if op == "<>":
        return left != right
    less, equal = left < right, left == right
    return {"<": less, "<=": less or equal, ">": not less and not equal, ">=": not less}[op]


def some(results: Iterable[bool | None]) -> bool | None:
    """Return what SQL's ANY makes of the elements' results: true, else unknown, else false."""
    unknown = False
    for result in results:
        if result:
            return True
        unknown = unknown or result is None
    return None if unknown else False


def cell(row: Row, name: str, kind: Type) -> object:
    """Return a column of a row, with what stands for one that is missing."""
    value = row.get(name)
    if name == "received":
        return received(row)
    if name == "starts" and value is None:
        return row["ts"]
    if kind is Type.SET:
        return () if value is None else value
    return "public" if name == "audience" and value is None else value


def received(row: Row) -> int:
    """Return when a message was received: never later than its ``ts``, which stands for none."""
    ts, at = row["ts"], row.get("received")
    return ts if at is None else min(at, ts)
