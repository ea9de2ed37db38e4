"""An inverted index of new messages: posting lists of their values, words, beginnings and ends.

    new messages ─ column ─> values, words, beginnings, ends ─ look up, then test ─> rows

The tests give what the engine gives, or say that they cannot tell (``plan.text_predicates``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pyarrow as pa

from tapestry.core.accents import fold_accents
from tapestry.plan.text_predicates import (
    fold_case,
    has_token,
    like_token,
    surely_has,
    surely_like,
    tokenize,
)

Test = Callable[[str], bool | None]
"""Tells of a value whether it passes; None where only the engine can tell."""

Posting = tuple[str, str, int]
"""A text in the order of which postings are sorted, the value, and the number of its row."""


class Bounds(NamedTuple):
    """Rows that pass a condition, and those that may pass it, these among them."""

    certain: frozenset[int]
    possible: frozenset[int]

    def __and__(self, other: Bounds) -> Bounds:
        return Bounds(self.certain & other.certain, self.possible & other.possible)

    def __or__(self, other: Bounds) -> Bounds:
        return Bounds(self.certain | other.certain, self.possible | other.possible)


class Postings:
    """The rows of a table by what their columns have; each column is read when it is asked for."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows
        self.unknown = Bounds(frozenset(), frozenset(range(rows.num_rows)))
        self._values: dict[str, dict[str, set[int]]] = {}
        self._words: dict[str, dict[str, list[Posting]]] = {}
        self._sorted: dict[tuple[str, int], list[Posting]] = {}

    def equal(self, column: str, values: Iterable[str]) -> Bounds:
        """Return the rows whose column is, or has as an element, one of the values."""
        by_value = self._by_value(column)
        rows = frozenset(row for value in values for row in by_value.get(value, ()))
        return Bounds(rows, rows)

    def has(self, column: str, phrase: str) -> Bounds:
        """Return the rows whose column has the words of a phrase, one after the other."""
        phrase = fold_accents(phrase)
        token = has_token(phrase)
        if token is None or not phrase.isascii():
            return self.unknown
        postings = self._by_word(column).get(token, ())
        return _tested(postings, lambda value: surely_has(value, phrase))

    def like(self, column: str, pattern: str) -> Bounds:
        """Return the rows whose column is like a pattern."""
        required = like_token(pattern)
        if required is None or not pattern.isascii():
            return self.unknown
        kind, token = required
        step = 1 if kind == "starts" else -1
        postings = self._beginning(column, token[::step], step)
        return _tested(postings, lambda value: surely_like(value, pattern))

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


def _tested(postings: Iterable[Posting], test: Test) -> Bounds:
    certain: set[int] = set()
    possible: set[int] = set()
    for _, value, row in postings:
        passed = test(value)
        if passed is not False:
            possible.add(row)
            if passed:
                certain.add(row)
    return Bounds(frozenset(certain), frozenset(possible))
