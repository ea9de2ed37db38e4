"""An inverted index of new messages: posting lists of their values, words, beginnings and ends.

    new messages ─ column ─> values, words, beginnings, ends ─ look up, then test ─> rows

The tests give what the engine gives, or say that they cannot tell: letters beyond ASCII are left
to the engine, whose alphabet and cases are not Python's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from tapestry.plan.key_extractor import fold_case, like_prefix, like_suffix, tokenize
from tapestry.plan.like_regex import like_regex

Test = Callable[[str], bool | None]
"""Tells of a value whether it passes; None where only the engine can tell."""

Posting = tuple[str, str, int]
"""A text in the order of which postings are sorted, the value, and the number of its row."""


class Found(NamedTuple):
    """Rows that pass a condition, and those that may pass it, these among them."""

    certain: frozenset[int]
    possible: frozenset[int]


class Postings:
    """The rows of a table by what their columns have; each column is read when it is asked for."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows
        self.unknown = Found(frozenset(), frozenset(range(rows.num_rows)))
        self._values: dict[str, dict[str, set[int]]] = {}
        self._words: dict[str, dict[str, list[Posting]]] = {}
        self._sorted: dict[tuple[str, int], list[Posting]] = {}

    def equal(self, column: str, values: Iterable[str]) -> Found:
        """Return the rows whose column is, or has as an element, one of the values."""
        by_value = self._by_value(column)
        rows = frozenset(row for value in values for row in by_value.get(value, ()))
        return Found(rows, rows)

    def has(self, column: str, phrase: str) -> Found:
        """Return the rows whose column has the words of a phrase, one after the other."""
        tokens = tokenize(phrase)
        if not tokens or not phrase.isascii():
            return self.unknown
        longest = max(tokens, key=len)
        postings = self._by_word(column).get(longest, ())
        return _tested(postings, lambda value: has_words(value, tuple(tokens)))

    def like(self, column: str, pattern: str) -> Found:
        """Return the rows whose column is like a pattern."""
        if not pattern.isascii():
            return self.unknown
        if prefix := like_prefix(pattern):
            postings = self._beginning(column, prefix, 1)
        elif suffix := like_suffix(pattern):
            postings = self._beginning(column, suffix[::-1], -1)
        else:
            return self.unknown
        return _tested(postings, lambda value: is_like(value, pattern))

    def _by_value(self, column: str) -> dict[str, set[int]]:
        if column not in self._values:
            by_value: dict[str, set[int]] = defaultdict(set)
            for row, cell in enumerate(self._rows[column].to_pylist()):
                for value in cell if isinstance(cell, list) else (cell,):
                    if value is not None:
                        by_value[value].add(row)
            self._values[column] = dict(by_value)
        return self._values[column]

    def _by_word(self, column: str) -> dict[str, list[Posting]]:
        if column not in self._words:
            by_word: dict[str, list[Posting]] = defaultdict(list)
            for value, rows in self._by_value(column).items():
                for word in set(tokenize(value)):
                    by_word[word] += [("", value, row) for row in rows]
            self._words[column] = dict(by_word)
        return self._words[column]

    def _beginning(self, column: str, text: str, step: int) -> list[Posting]:
        """Return the postings of values that begin with a text, or end with it, read backwards."""
        key = (column, step)
        if key not in self._sorted:
            self._sorted[key] = sorted(
                (fold_case(value)[::step], value, row)
                for value, rows in self._by_value(column).items()
                for row in rows
            )
        postings = self._sorted[key]
        low = high = bisect_left(postings, (text,))
        while high < len(postings) and postings[high][0].startswith(text):
            high += 1
        return postings[low:high]


def has_words(value: str, words: tuple[str, ...]) -> bool | None:
    """Tell whether a text has words of ASCII, given in lower case, one after the other.

    >>> has_words("The Lunch, break", ("lunch", "break")), has_words("lunchbreak", ("lunch",))
    (True, False)
    >>> has_words("Lunch – naïve", ("lunch",)), has_words("naïve", ("ve",))
    (True, None)
    """
    if value.isascii():
        own = tokenize(value)
        size = len(words)
        return any(tuple(own[at : at + size]) == words for at in range(len(own) - size + 1))
    return _bounded(words).search(value) is not None or None


@lru_cache(maxsize=4096)
def _bounded(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds the words among characters of ASCII that are not of words."""
    between = r"[\x00-/:-@\[-`{-\x7f]"
    text = f"{between}+".join(words)
    return re.compile(f"(?:^|{between}){text}(?:{between}|\\Z)", re.ASCII | re.IGNORECASE)


def is_like(value: str, pattern: str) -> bool | None:
    r"""Tell whether a text is like a pattern of ASCII, without case.

    >>> is_like("Ann@x.org", "ann@%"), is_like("Joe", "j_"), is_like("Ann@é", "ann@%")
    (True, False, True)
    >>> is_like("é@x.org", "%@x.org"), is_like("é", "e%") is is_like("aé", "a_") is None
    (True, True)
    """
    if pattern.endswith("%") and is_literal(pattern[:-1]):
        part = value[: len(pattern) - 1]
        return part.lower() == pattern[:-1].lower() if part.isascii() else None
    if pattern.startswith("%") and is_literal(pattern[1:]):
        part = value[len(value) - len(pattern) + 1 :] if len(value) >= len(pattern) - 1 else value
        return part.lower() == pattern[1:].lower() if part.isascii() else None
    if not value.isascii():
        return None
    return re.search(like_regex(pattern), value.lower()) is not None


def is_literal(pattern: str) -> bool:
    r"""Tell whether a part of a LIKE pattern stands for itself.

    >>> is_literal("a.b"), is_literal("a_b"), is_literal(r"a\_b")
    (True, False, False)
    """
    return not any(sign in pattern for sign in "%_\\")


def _tested(postings: Iterable[Posting], test: Test) -> Found:
    certain: set[int] = set()
    possible: set[int] = set()
    for _, value, row in postings:
        passed = test(value)
        if passed is not False:
            possible.add(row)
            if passed:
                certain.add(row)
    return Found(frozenset(certain), frozenset(possible))
