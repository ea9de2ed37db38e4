"""Strategies that are made once: a new one is checked anew before each value that it draws."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


@lru_cache(maxsize=8192, typed=True)
def one_of(*options: T) -> st.SearchStrategy[T]:
    """Return what draws one of the values, which are hashable."""
    return st.sampled_from(options)


@cache
def whole(low: int, high: int) -> st.SearchStrategy[int]:
    """Return what draws a whole number from ``low`` to ``high``."""
    return st.integers(low, high)
