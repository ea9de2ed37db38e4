"""How often two people agree, counted literally: a second opinion, from LANGUAGE.md alone."""

from __future__ import annotations

from fractions import Fraction

from tests.support.oracle.queries import Data


def share(visible: Data, one: str | None, other: str | None) -> Fraction | None:
    """Return the share of their votes in which two people agree; None if too few are in common."""
    if one is None or other is None or one == other:
        return None
    pairs = [
        first["number"] == second["number"]
        for first in visible["annotations"]
        for second in visible["annotations"]
        if (first["owner"], second["owner"]) == (one, other)
        and first["msgid"] == second["msgid"]
        and all(row["kind"] == "vote" and row["number"] in (1, -1) for row in (first, second))
    ]
    return Fraction(sum(pairs), len(pairs)) if len(pairs) >= 3 else None
