"""What a statement reads: views of the tables, and small relations sent along with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from tapestry.core.schema import Type

Range = tuple[int, int]
"""Instants after the first and up to the second, as a window is."""


@dataclass(frozen=True, slots=True)
class View:
    """A table, or the slice of it whose ``ts`` lies in one of the ranges (None: all of it)."""

    name: str
    table: str
    ranges: tuple[Range, ...] | None


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


@dataclass(slots=True)
class Statement:
    """One SQL statement and all it reads; ``select`` gives the columns of ``OUTPUT``."""

    select: exp.Query
    views: list[View] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)


OUTPUT = ("fid", "msgid", "audience", "ts", "c", "disjunct", "why")
"""Filter, message row, the row's ts, the first instant found, the disjunct, the evidence."""

SEPARATOR = "\n"
"""Between the keys of ``why``; no Message-ID holds a line break."""
