"""The parts of which a compiled condition is made: AND, OR, comparisons with ``now()``, keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulation.auditor.nodes import SETS, Column, Compare, Node, free, has_now
from tests.simulation.auditor.spans import ALL, NONE, UNKNOWN, Truth3, flip, meet, union
from tests.simulation.auditor.tables import Row

Env = dict[str, Row]
"""The rows that are bound, by their variables."""

Value = Callable[[Env, int], Any]
"""A term: its value for some rows at an instant."""

Test = Callable[[Env], Truth3]
"""A condition: when it is true for some rows, and when it is false."""


def all_of(tests: list[Test]) -> Test:
    """Compile AND: true while all are, false while any is."""

    def test(env: Env) -> Truth3:
        true, false = ALL, NONE
        for one in tests:
            then, never = one(env)
            true, false = meet(true, then), union(false, never)
            if false is ALL:
                break
        return true, false

    return test


def one_of(tests: list[Test]) -> Test:
    """Compile OR: true while any is, false while all are."""

    def test(env: Env) -> Truth3:
        true, false = NONE, ALL
        for one in tests:
            then, never = one(env)
            true, false = union(true, then), meet(false, never)
            if true is ALL:
                break
        return true, false

    return test


def once(node: Node, test: Test) -> Test:
    """Have a condition on one row at most be tested once for that row, within whatever it is."""
    if len(free(node)) > 1:
        return test
    name = next(iter(free(node)), None)
    memo: dict[int | None, Truth3] = {}

    def tested(env: Env) -> Truth3:
        key = id(env[name]) if name else None
        if key not in memo:
            memo[key] = test(env)
        return memo[key]

    return tested


def linear(a: Value, b: Value, op: str, env: Env) -> Truth3:
    """Solve a comparison with ``now()``: its sides are lines, through their values at 0 and 1."""
    left, right = a(env, 0), b(env, 0)
    if left is None or right is None:
        return UNKNOWN
    height = left - right
    return flip(a(env, 1) - b(env, 1) - height, height, op)


def is_set(term: Node) -> bool:
    return isinstance(term, Column) and term.name in SETS


def any_of(elements: tuple[str, ...], test: Callable[[str], bool], other: Any) -> bool | None:
    if other is None:
        return None if elements else False
    return any(map(test, elements))


def key_of(part: Node, var: str) -> tuple[str, Node] | None:
    """Return the column of a variable that must equal what is known before it, and that."""
    if not isinstance(part, Compare) or part.op != "=" or has_now(part):
        return None
    for mine, other in ((part.left, part.right), (part.right, part.left)):
        plain = isinstance(mine, Column) and mine.var == var and var not in free(other)
        if plain and not is_set(other):
            assert isinstance(mine, Column)
            return mine.name, other
    return None
