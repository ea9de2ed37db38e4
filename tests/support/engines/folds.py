"""An aggregate defined in SQL, computed literally: a second reading, from LANGUAGE.md alone.

It reads the text of a definition by itself, and goes over the rows in a loop; None is NULL.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

Value = Any
Names = dict[str, Value]
Term = Callable[[Names], Value]

MOST = 10_000

_TOKEN = re.compile(r"'(?:[^']|'')*'|[0-9.]+(?:e[+-]?[0-9]+)?|\w+|<>|<=|>=|[-+*/()=<>,]")
_TESTS = {"=": "eq", "<>": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}


def value(text: str, rows: Sequence[Sequence[Value]]) -> Value:
    """Return the aggregate of rows of values, in their order."""
    read = _read(text)
    known = [_typed(read["AGGREGATE"], row) for row in rows]
    state: Names = {}
    firsts = []
    for row in [row for row in known if None not in row.values()][:MOST]:
        terms = read["ITERATE"] if state else read["INITIALIZE"]
        state = _typed(read["STATE"], [term(row | state) for term in terms])
        firsts.append(state[read["STATE"][0][0]])
    if not state:
        return None
    if "TERMINATE" not in read:
        return _of(read["RETURNS"], max((one for one in firsts if one is not None), default=None))
    return _of(read["RETURNS"], read["TERMINATE"](state))


def returns_of(text: str) -> str:
    """Return the type of what a definition returns."""
    return _read(text)["RETURNS"]


def _typed(variables: Sequence[tuple[str, str]], values: Sequence[Value]) -> Names:
    return {name: _of(kind, one) for (name, kind), one in zip(variables, values, strict=True)}


def _of(kind: str, one: Value) -> Value:
    if kind == "NUMBER" and one is not None:
        one = float(one)
    return one if kind == "TEXT" else _held(one)


def _held(one: Value) -> Value:
    """Return a number that 64 bits hold."""
    if isinstance(one, float) and not math.isfinite(one):
        return None
    if isinstance(one, int) and not -(2**63) <= one < 2**63:
        return None
    return one


@lru_cache(maxsize=1024)
def _read(text: str) -> dict[str, Any]:
    return _Reader(_TOKEN.findall(text)).definition()


class _Reader:
    """Reads a definition as it is printed, by recursive descent."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def definition(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.tokens:
            word = self.next()
            match word:
                case "AGGREGATE" | "STATE":
                    found[word] = self.listed(lambda: (self.next(), self.next()))
                case "INITIALIZE" | "ITERATE":
                    found[word] = self.listed(self.sum)
                case "RETURNS":
                    found[word] = self.next()
                case "TERMINATE":
                    found[word] = self.sum()
                case _:
                    raise ValueError(word)
        return found

    def next(self) -> str:
        return self.tokens.pop(0)

    def comes(self, *words: str) -> str | None:
        return self.next() if self.tokens and self.tokens[0] in words else None

    def listed(self, read: Callable[[], Any]) -> list[Any]:
        assert self.next() == "("
        items = [read()]
        while self.next() == ",":
            items.append(read())
        return items

    def sum(self) -> Term:
        left = self.product()
        while op := self.comes("+", "-"):
            left = _arith(op, left, self.product())
        return left

    def product(self) -> Term:
        left = self.one()
        while op := self.comes("*", "/"):
            left = _arith(op, left, self.one())
        return left

    def one(self) -> Term:
        word = self.next()
        if word == "(":
            inner = self.sum()
            assert self.next() == ")"
            return inner
        if word == "CASE":
            return self.case()
        if word == "-":
            return _constant(-self.number(self.next()))
        if word == "NULL":
            return _constant(None)
        if word.startswith("'"):
            return _constant(word[1:-1].replace("''", "'"))
        if word[0].isdigit():
            return _constant(self.number(word))
        if self.comes("("):
            assert word == "coalesce"
            self.tokens.insert(0, "(")
            args = self.listed(self.sum)
            return lambda names: next((v for a in args if (v := a(names)) is not None), None)
        return lambda names: names[word]

    def number(self, word: str) -> Value:
        unit = self.tokens[0].rstrip("s") if self.tokens else ""
        if unit in _SECONDS:
            self.next()
            return round(float(word) * _SECONDS[unit] * 1_000_000)
        return int(word) if word.isdigit() else float(word)

    def case(self) -> Term:
        assert self.next() == "WHEN"
        test = self.disjunction()
        assert self.next() == "THEN"
        then = self.sum()
        assert self.next() == "ELSE"
        otherwise = self.sum()
        assert self.next() == "END"
        return lambda names: then(names) if test(names) is True else otherwise(names)

    def disjunction(self) -> Term:
        parts = [self.conjunction()]
        while self.comes("OR"):
            parts.append(self.conjunction())
        return lambda names: _some([part(names) for part in parts])

    def conjunction(self) -> Term:
        parts = [self.test()]
        while self.comes("AND"):
            parts.append(self.test())
        return lambda names: _not(_some([_not(part(names)) for part in parts]))

    def test(self) -> Term:
        if self.comes("NOT"):
            inner = self.test()
            return lambda names: _not(inner(names))
        if self.tokens[0] == "(" and self.is_condition():
            self.next()
            inside = self.disjunction()
            assert self.next() == ")"
            return inside
        left = self.sum()
        if self.comes("IS"):
            wanted = not self.comes("NOT")
            assert self.next() == "NULL"
            return lambda names: (left(names) is None) is wanted
        compare = getattr(operator, _TESTS[self.next()])
        right = self.sum()
        return lambda names: _known(compare, left(names), right(names))

    def is_condition(self) -> bool:
        """Tell whether the parenthesis that comes has a test in it."""
        depth = 0
        for token in self.tokens:
            depth += (token == "(") - (token == ")")
            if not depth:
                return False
            if depth == 1 and (token in _TESTS or token in ("AND", "OR", "IS", "NOT")):
                return True
        return False


def _constant(one: Value) -> Term:
    return lambda names: one


def _arith(op: str, left: Term, right: Term) -> Term:
    def compute(a: Value, b: Value) -> Value:
        match op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
        return None if b == 0 else a / b

    return lambda names: _held(_known(compute, left(names), right(names)))


def _known(compute: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    return None if left is None or right is None else compute(left, right)


def _some(truths: Sequence[bool | None]) -> bool | None:
    return True if True in truths else None if None in truths else False


def _not(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def tile(before: int, number: int, tiles: int) -> int | None:
    """Return in which tile a row stands, by dealing them all out: the first tiles get what is over.

    None where as many rows are before it as there are.
    """
    lengths = [len(range(place, number, tiles)) for place in range(tiles)]
    dealt = [place + 1 for place, length in enumerate(lengths) for _ in range(length)]
    return dealt[before] if before < number else None
