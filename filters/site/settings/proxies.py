"""TAPESTRY_PROXIES: how many proxies stand in front of the site."""

from __future__ import annotations

from tapestry.core.errors import TapestryError

MOST = 10
"""A larger number is taken for a typing error."""


def number_of_proxies(text: str) -> int:
    """Return the number that a text says; none is 0.  Raise TapestryError if it says none.

    >>> number_of_proxies("2"), number_of_proxies("")
    (2, 0)
    """
    if not text:
        return 0
    # Few digits: Python reads no more than some thousands.
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) <= MOST):
        raise TapestryError(
            "TAPESTRY_PROXIES is not a number of proxies.",
            hint=f"Write how many stand in front of the site, from 0 to {MOST}.",
        )
    return int(text)
