"""Answer a statement, and first those from which its relations are made."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from tapestry.plan.assembly import Assembly
from tapestry.plan.relation import Range, Relation, Statement

Row = tuple[int, str, str, int, int, int, str]
"""A row of a statement, in the columns of ``plan.relation.OUTPUT``."""


class Engine(Protocol):
    """Answers statements over one snapshot of the tables."""

    def answer(self, statement: Statement) -> list[Row]:
        """Return the rows of a statement, in the columns of ``plan.relation.OUTPUT``."""

    def covers(self, table: str, ranges: tuple[Range, ...]) -> bool:
        """Tell whether the table can hold rows whose ``ts`` lies in one of the ranges."""


def answer(engine: Engine, statement: Statement) -> list[Row]:
    """Return the rows of a statement, in the columns of ``plan.relation.OUTPUT``."""
    made = [
        Relation(one.name, one.fields, one.make(engine.answer(one.statement)))
        for one in statement.derived
    ]
    return engine.answer(replace(statement, relations=[*statement.relations, *made], derived=[]))


def must_answer(engine: Engine) -> None:
    """Raise TapestryError if the engine answers nothing at all: then no filter is to blame."""
    engine.answer(Assembly({}).statement())
