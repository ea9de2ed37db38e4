"""Reserved words, and a supply of fresh variable names."""

from __future__ import annotations

from dataclasses import dataclass, field

_WORDS = """
    ALL AND AS BETWEEN BY CROSS DISTINCT EXCEPT EXISTS FALSE FROM FULL GROUP HAS HAVING IN INNER
    INTERSECT IS JOIN LEFT LIKE LIMIT NATURAL NOT NULL ON OR ORDER OUTER RIGHT SELECT TRUE UNION
    USING WHERE
"""
RESERVED = frozenset(_WORDS.split())
"""Words that cannot name a variable."""

AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")

SHARES = ("SHARE", "NTILE")
"""Aggregates of two numbers: of rows that meet a test, and of all."""

DEFINED = "AGGREGATE"
"""The function of an aggregate that is defined in SQL, and the first word of its definition."""

RELATIVE_RANKS = ("NTILE", "PERCENT_RANK", "CUME_DIST")
RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK", *RELATIVE_RANKS)
SHIFTS = ("LAG", "LEAD")
VALUES = (*SHIFTS, "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")
"""Window functions: those that count what comes before, and those of another row."""


def is_definition(text: str) -> bool:
    """Tell whether a text is the definition of an aggregate, not the name of one."""
    return text.startswith(f"{DEFINED} ")


@dataclass(slots=True)
class FreshNames:
    """A supply of names no variable of one tree has; ``last`` is the last number of each base."""

    used: set[str]
    last: dict[str, int] = field(default_factory=dict)

    def unused(self, name: str) -> str:
        """Return the name itself or, if another variable has it, the first number of it left."""
        name = name.strip()
        base = name.rstrip("0123456789") or name
        while name in self.used:
            self.last[base] = self.last.get(base, 1) + 1
            name = f"{base}{self.last[base]}"
        return name

    def take(self, name: str) -> str:
        """Return ``unused(name)``, which from now on is used."""
        name = self.unused(name)
        self.used.add(name)
        return name
