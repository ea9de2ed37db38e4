"""Inputs of a statement: views of the tables, and small relations sent along with it.

A view may be limited to a key lookup, which is a semi-join: an engine reads only the rows of the
table that have one of the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tapestry.core.schema import Type

if TYPE_CHECKING:
    from sqlglot import exp

Range = tuple[int, int]
"""Instants after the first and up to the second, as a window is."""


@dataclass(frozen=True, slots=True)
class Near:
    """A bound of a lookup: ``by`` is from ``low`` to ``high`` microseconds after ``other``."""

    by: str
    other: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class KeyLookup:
    """A semi-join: only rows matter whose ``column`` equals ``other`` in some row of the sources.

    They are views or a relation of the same statement, by name; ``other`` may be a set.  With
    ``near``, only those matter that are near that row.  With ``before``, one row is enough that is
    earlier in these columns than that row, and that whoever sees that row sees.
    """

    column: str
    sources: tuple[str, ...]
    other: str
    near: Near | None = None
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A table, or the slice of it whose ``by`` lies in one of the ranges (None: all of it).

    An engine may leave out the rows that ``key_lookup`` does not find: the statement does so too.
    """

    name: str
    table: str
    ranges: tuple[Range, ...] | None
    key_lookup: KeyLookup | None = None
    by: str = "ts"


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a relation; ``many`` for a list of the type."""

    name: str
    type: Type
    many: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows sent along with a statement: the constants of a group, or candidates."""

    name: str
    fields: tuple[Field, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest rows of a table, by a bounded column, which alone may decide a statement.

    ``statement`` reads the rows after an instant, which is before ``since``; ``suffices`` tells
    whether its rows are so many that older ones change nothing.
    """

    table: str
    by: str
    since: int
    statement: Callable[[int], Statement]
    suffices: Callable[[Iterable[Sequence[Any]]], bool]


@dataclass(frozen=True, slots=True)
class Derived:
    """A relation whose rows are made from those of another statement, before it is read.

    That may have ``most`` rows; None is any number.  ``newest`` may do in its place.
    """

    name: str
    fields: tuple[Field, ...]
    statement: Statement
    make: Callable[[Iterable[Sequence[Any]]], tuple[tuple[object, ...], ...]]
    most: int | None = None
    newest: Newest | None = None


@dataclass(slots=True)
class Statement:
    """One SQL statement and all it reads; ``select`` gives the columns of ``OUTPUT``."""

    select: exp.Query
    views: list[View] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    derived: list[Derived] = field(default_factory=list)


OUTPUT = ("filter_id", "msgid", "audience", "ts", "c", "disjunct", "evidence")
"""Filter, message row, the row's ts, the first instant found, the disjunct, the evidence."""

SEPARATOR = "\n"
"""Between the keys of ``evidence``; no Message-ID holds a line break."""
