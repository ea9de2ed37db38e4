"""The language's own tests as functions of SQLite: those that ``plan.lowering`` leaves to engines.

A set is a JSON array, unknown is NULL.  What depends on letters that are younger than the oldest
Unicode is left to Spark, whose Unicode may be another one: such a function raises UnsureError.
"""

from __future__ import annotations

import json
import operator
import re
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from unicodedata import ucd_3_2_0

from tapestry.plan import sql
from tapestry.plan.text_predicates import looked_for, plain_words

SHORT = 4096
"""Characters of a text up to which its words are remembered: filters ask for them again."""

Test = Callable[[Any, Any], bool | None]
"""A test of a value by another one; None is unknown."""


class UnsureError(Exception):
    """A function depends on letters that another Unicode may see otherwise."""


def add_functions(db: sqlite3.Connection) -> None:
    """Add the functions to a connection."""
    for name, function in FUNCTIONS.items():
        arguments = 1 if name in _OF_ONE else 2
        count = -1 if name in _OF_MANY else arguments
        db.create_function(name, count, function, deterministic=True)


@lru_cache(maxsize=4096)
def _elements(value: str) -> tuple[str, ...]:
    return tuple(json.loads(value))


@lru_cache(maxsize=4096)
def _is_old(letter: str) -> bool:
    """Tell whether a character is of the oldest Unicode, or no letter or digit in this one."""
    return ucd_3_2_0.category(letter) != "Cn" or not (letter.isalnum() or letter.lower() != letter)


def _sure(text: str) -> str:
    if text.isascii() or all(map(_is_old, set(text))):
        return text
    raise UnsureError


@lru_cache(maxsize=4096)
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(_sure(pattern))


def _matches(value: str | None, regex: str | None) -> bool | None:
    if value is None or regex is None:
        return None
    return _regex(regex).search(_sure(value).lower()) is not None


def _has(value: str | None, words: str | None) -> bool | None:
    if value is None or words is None:
        return None
    return _looked_for(words) in _plain_words(value)


@lru_cache(maxsize=4096)
def _looked_for(words: str) -> str:
    return looked_for(_sure(words))


def _plain_words(value: str) -> str:
    return _remembered(value) if len(value) <= SHORT else plain_words(_sure(value))


@lru_cache(maxsize=4096)
def _remembered(value: str) -> str:
    return plain_words(_sure(value))


def _in(value: str | None, values: str) -> bool | None:
    return None if value is None else value in _elements(values)


def _comparison(compare: Callable[[Any, Any], bool]) -> Test:
    return lambda left, right: None if left is None or right is None else compare(left, right)


def _any_element(test: Test) -> Callable[[str | None, Any], bool | None]:
    """Return the test whether an element of a set passes: true, else unknown, else false."""

    def passes(elements: str | None, value: Any) -> bool | None:
        if elements is None:
            return None
        results = [test(element, value) for element in _elements(elements)]
        return True if any(results) else None if None in results else False

    return passes


def _text(function: Callable[[str], object]) -> Callable[[str | None], object]:
    return lambda value: None if value is None else function(_sure(value))


def _substr(value: str | None, start: int, size: int | None = None) -> str | None:
    """Return characters from position ``start``, 1 for the first, and ``size`` at most."""
    return None if value is None else value[start - 1 :][:size]


def _coalesce(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _concat_ws(glue: str, *values: str | None) -> str:
    return glue.join(value for value in values if value is not None)


def _distinct_elements(value: str | None) -> str:
    return json.dumps(list(dict.fromkeys(_elements(value or "[]"))))


TESTS: dict[str, Test] = {"matches": _matches, "has": _has, "in": _in}
TESTS |= {name: _comparison(getattr(operator, name)) for name in sql.NAMES.values()}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "visible": lambda audiences, audience: audience in _elements(audiences),
    "text_matches": _matches,
    "text_has": _has,
    "value_in": _in,
    "text_lower": _text(str.lower),
    "text_upper": _text(str.upper),
    "text_length": _text(len),
    "text_trim": _text(lambda text: text.strip(" ")),
    "text_substr": _substr,
    "text_coalesce": _coalesce,
    "concat_ws": _concat_ws,
    "distinct_elements": _distinct_elements,
}
FUNCTIONS |= {f"set_{name}": _any_element(test) for name, test in TESTS.items()}

_OF_ONE = {"text_lower", "text_upper", "text_length", "text_trim", "distinct_elements"}
_OF_MANY = {"text_substr", "text_coalesce", "concat_ws"}
