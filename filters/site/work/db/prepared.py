"""Statements that are compiled once, for Django takes longer for that than databases to answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection

Row = tuple[Any, ...] | None

_PLACES = range(-2_000_000_002, -2_000_000_000)
"""Values that no statement has of its own: they stand where it is given others."""

_compiled: dict[Callable[..., object], list[tuple[str, tuple[Any, ...]]]] = {}
"""Statements, with their parameters, by the function that asks them."""


def first_rows(ask: Callable[..., object], *values: int) -> list[Row]:
    """Return the first row of the answer to each statement of a function of some numbers.

    The function is called once in a process, and must ask the same whatever the numbers are; of
    answers it sees none.
    """
    rows: list[Row] = []
    given = dict(zip(_PLACES, values, strict=False))
    if (known := _compiled.get(ask)) is None:
        statements = []

        def compiled(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
            statements.append((sql, tuple(parameters)))
            done = execute(sql, _filled(parameters, given), many, context)
            rows.append(context["cursor"].fetchone())
            return done

        with connection.execute_wrapper(compiled):
            ask(*given)
        _compiled[ask] = statements
        return rows
    with connection.cursor() as cursor:
        for sql, parameters in known:
            cursor.execute(sql, _filled(parameters, given))
            rows.append(cursor.fetchone())
    return rows


def _filled(parameters: Any, given: dict[int, int]) -> list[Any]:
    return [given.get(value, value) for value in parameters]
