"""The port of a query engine, and the evaluation of a statement by it.

A statement may read derived relations, whose rows are made from those of other statements:
these are evaluated first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Protocol

from tapestry.core.errors import OwnFaultError, TapestryError
from tapestry.core.surroundings import NobodysFaultError
from tapestry.plan.relation import Derived, Newest, Range, Relation, Statement

Row = tuple[int, str, str, int, int, int, str]
"""A row of a statement, in the columns of ``plan.relation.OUTPUT``."""


CHECK_SECONDS = 45.0
"""Seconds that the smallest of statements may take, on a machine that is busy."""


NEWEST_ROWS = (2_000, 8_000)
"""The newest rows of a table that are tried before all of it: both are few for an engine."""


class TooMuchError(TapestryError):
    """A statement took too long, or had too many answers: perhaps one of many asked too much."""


class TooSlowError(TooMuchError):
    """A statement did not end within its time limit."""


def too_slow(seconds: float) -> TooSlowError:
    """Return the error of a statement that did not end within so many seconds."""
    return TooSlowError(
        f"It takes more than {seconds:g} seconds to run.",
        hint="Say more narrowly what it is to find.",
    )


class TooManyError(TooMuchError):
    """A statement had more than ``most`` answers, about half of them up to the instant ``half``."""

    def __init__(self, most: int, half: int) -> None:
        super().__init__(
            f"It finds more than {most:,} messages in one run.",
            hint="Say more narrowly what it is to find.",
        )
        self.half = half

    def shorter(self, since: int, until: int) -> int | None:
        """Return where to end the window (since, until] instead; None if it is one instant."""
        if until - since < 2:
            return None
        if self.half >= until:
            return until - 1  # half of them are of the last instant
        return self.half if since < self.half else (since + until) // 2


class StatementFailedError(OwnFaultError):
    """The engine failed at a statement: perhaps over one row, or one filter's constants."""


class PlanFailedError(StatementFailedError):
    """The engine takes no statement of this plan, whatever its rows and constants are."""


class EngineStuckError(NobodysFaultError):
    """The engine takes statements and runs none: no filter is to blame."""

    def __init__(self) -> None:
        super().__init__("Spark answers, but it runs nothing.")


class Engine(Protocol):
    """Answers statements over one snapshot of the tables."""

    def fetch(self, statement: Statement) -> list[Row]:
        """Return the rows of a statement, in the columns of ``plan.relation.OUTPUT``."""

    def limit(self, seconds: float) -> AbstractContextManager[None]:
        """Limit the statements of a block to so many seconds in all; TooSlowError after that."""

    def covers(self, table: str, ranges: tuple[Range, ...], by: str = "ts") -> bool:
        """Tell whether the table can hold rows whose ``by`` lies in one of the ranges."""

    def newest_after(self, table: str, by: str, rows: int) -> int | None:
        """Return an instant after which the table has at most so many rows; None if in all."""


class TimeLimited:
    """Limits the statements of an engine in time; there is no limit at first."""

    _deadline = _allowed = math.inf

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Limit the statements of a block to so many seconds in all."""
        before = self._deadline, self._allowed
        self._deadline, self._allowed = time.monotonic() + seconds, seconds
        try:
            yield
        finally:
            self._deadline, self._allowed = before


def evaluate(engine: Engine, statement: Statement) -> list[Row]:
    """Return the rows of a statement, in the columns of ``plan.relation.OUTPUT``."""
    relations = [*statement.relations]
    for derived in statement.derived:
        rows = _rows_of(engine, derived)
        if derived.most is not None and len(rows) > derived.most:
            message = f"It aggregates more than {derived.most:,} rows in one run."
            raise TooMuchError(message, hint="Say more narrowly what it is to aggregate.")
        relations.append(Relation(derived.name, derived.fields, derived.make(rows)))
    return engine.fetch(replace(statement, relations=relations, derived=[]))


def _rows_of(engine: Engine, derived: Derived) -> list[Row]:
    """Return the rows of a derived relation's statement, or those of the newest that suffice."""
    found = _newest_of(engine, derived.newest) if derived.newest else None
    return evaluate(engine, derived.statement) if found is None else found


def _newest_of(engine: Engine, newest: Newest) -> list[Row] | None:
    """Return what the newest rows of a table give; None if it may take older ones."""
    for rows in NEWEST_ROWS:
        after = engine.newest_after(newest.table, newest.by, rows)
        if after is None:
            return None
        if after < newest.since:
            found = evaluate(engine, newest.statement(after))
            if newest.suffices(found):
                return found
    return None


def require_running(engine: Engine) -> None:
    """Raise EngineStuckError if the engine does not run the smallest of statements to its end.

    It has a row, so that it is executed: what has none, an engine may answer from the plan alone.
    """
    from tapestry.plan.lowering.assembly import Assembly, smallest_select

    assembly = Assembly({})
    assembly.selects.append(smallest_select())
    try:
        with engine.limit(CHECK_SECONDS):
            engine.fetch(assembly.first_matches())
    except TooSlowError as error:
        raise EngineStuckError from error
