"""A second opinion on the oracle: Q(t) by nested loops in Python, without SQL.

Three-valued logic with None for unknown, written from LANGUAGE.md.  It shares with
the oracle only the tests on single values (LIKE, HAS, comparison of two values).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import product

from tapestry.core.schema import COLUMNS, Type
from tapestry.query.tree import nodes as n
from tests.support.engines import folds
from tests.support.engines.agreement import share
from tests.support.engines.sequences import comes, of_the_last, stands_in
from tests.support.engines.window_functions import is_test, passes, pushed
from tests.support.oracle.queries import Data
from tests.support.oracle.standing import stands
from tests.support.oracle.values import Row, cell, compare, has, like, received, some


def answer(query: n.CheckedQuery, data: Data, audiences: Collection[str], t: int) -> set[str]:
    """Return Q(t): the msgids that satisfy the filter at ``t``."""
    visible = {
        table: [
            row
            for row in rows
            if row["ts"] <= t
            and row.get("audience", "public") in audiences
            and (table == "messages" or stands(row, rows, t))
        ]
        for table, rows in data.items()
    }
    return {
        str(rows[query.var]["msgid"])
        for rows in _bindings((n.Binding(query.var, "messages"),), {}, visible)
        if holds(query.condition, rows, visible, t)
    }


def _bindings(
    bindings: Sequence[n.Binding], outer: dict[str, Row], visible: Data
) -> Iterator[dict[str, Row]]:
    for rows in product(*(visible[b.table] for b in bindings)):
        yield outer | {b.var: row for b, row in zip(bindings, rows, strict=True)}


def holds(c: n.Condition, rows: dict[str, Row], visible: Data, t: int) -> bool | None:
    """Return a condition's truth for one binding of the variables; None is unknown."""
    match c:
        case n.Truth(result):
            return result
        case n.Not(n.Not() | n.And() | n.Or() as arg):
            return holds(pushed(arg), rows, visible, t)
        case n.Not(arg) if is_test(arg):
            return _passes(arg, True, rows, visible, t)
        case _ if is_test(c):
            return _passes(c, False, rows, visible, t)
        case n.Not(arg):
            return _negated(holds(arg, rows, visible, t))
        case n.And(args):
            opposite = some(_negated(holds(arg, rows, visible, t)) for arg in args)
            return _negated(opposite)
        case n.Or(args):
            return some(holds(arg, rows, visible, t) for arg in args)
        case n.Exists(bindings, condition):
            return any(
                holds(condition, bound, visible, t) is True
                for bound in _bindings(bindings, rows, visible)
            )
        case n.InQuery(term, chosen, bindings, condition):
            left = value(term, rows, t)
            return some(
                compare(left, "=", value(chosen, bound, t))
                for bound in _bindings(bindings, rows, visible)
                if holds(condition, bound, visible, t) is True
            )
        case n.Threshold(aggregate, op, constant):
            return compare(total(aggregate, rows, visible, t), op, constant.value)
        case n.Top():
            return value(c.message, rows, t) in _leaders(c, rows, visible, t)
        case n.Sequence():
            return comes(c, rows, visible, t, lambda test, bound: holds(test, bound, visible, t))
        case n.Window():
            return stands_in(c, rows, visible, lambda test, bound: holds(test, bound, visible, t))
        case n.Agreement():
            people = (value(person, rows, t) for person in (c.one, c.other))
            found = share(visible, *people)
            limit = Fraction(repr(c.share.value))
            return found is not None and compare(found, c.op, limit)
        case n.Compare(op, left, right):
            other = value(right, rows, t)
            return _some_element(value(left, rows, t), lambda e: compare(e, op, other))
        case n.Like(term, pattern):
            return _some_element(value(term, rows, t), lambda e: like(e, pattern.value))
        case n.Has(term, wanted):
            return _some_element(value(term, rows, t), lambda e: has(e, wanted.value))
        case n.InList(term, values):
            return _some_element(
                value(term, rows, t), lambda e: None if e is None else e in values.values
            )
        case n.IsNull(term):
            return value(term, rows, t) is None
    raise TypeError(f"{type(c).__name__} is not a condition of a checked tree")


def _passes(
    test: n.Condition, negated: bool, rows: dict[str, Row], visible: Data, t: int
) -> bool | None:
    """Return the truth of a test of window functions, or of its NOT."""

    def inner(condition: n.Condition, bound: dict[str, Row]) -> bool | None:
        return holds(condition, bound, visible, t)

    return passes(test, negated, rows, visible, inner, lambda term, row: value(term, row, t))


def total(a: n.Aggregate, rows: dict[str, Row], visible: Data, t: int):
    """Return an aggregate's value for one binding of the outer variables; None is NULL."""
    if isinstance(a.term, n.Fold):
        return folded(a, a.term, rows, visible, t)
    meeting = [
        bound
        for bound in _bindings(a.bindings, rows, visible)
        if holds(a.condition, bound, visible, t) is True
    ]
    if a.among:
        if a.among.limit:
            (row,) = a.bindings
            last = of_the_last(a.among.limit.value, [bound[row.var] for bound in meeting])
            meeting = [bound for bound in meeting if bound[row.var] in last]
        every = counted_of(a, meeting, t)
        meeting = [b for b in meeting if holds(a.among.test, b, visible, t) is True]
    counted = counted_of(a, meeting, t)
    match a.function:
        case "SHARE":
            return len(counted) / len(every) if every else None
        case "NTILE":
            return folds.tile(len(counted), len(every), a.among.tiles.value)
        case "COUNT":
            return len(counted)
        case "MIN":
            return min(counted, default=None)
        case "MAX":
            return max(counted, default=None)
        case "SUM":
            return sum(counted) if counted else None
        case "AVG":
            return sum(counted) / len(counted) if counted else None
    raise TypeError(f"{a.function} is not an aggregate")


def counted_of(a: n.Aggregate, meeting: list[dict[str, Row]], t: int) -> list:
    """Return the values of rows, without NULL."""
    counted = [1 if a.term is None else value(a.term, bound, t) for bound in meeting]
    counted = [one for one in counted if one is not None]
    return list(set(counted)) if a.distinct else counted


def folded(a: n.Aggregate, fold: n.Fold, rows: dict[str, Row], visible: Data, t: int):
    """Return what a definition makes of the rows, in the order in which they came."""
    found = []
    for bound in _bindings(a.bindings, rows, visible):
        if holds(a.condition, bound, visible, t) is True:
            own = [bound[b.var] for b in a.bindings]
            mail = [received(row) for row in own if "annid" not in row]
            keys = [row.get("annid", row["msgid"]) for row in own]
            place = (max(row["ts"] for row in own), mail, keys, [seen_by(row) for row in own])
            values = [value(arg, bound, t) for arg in fold.args]
            if None not in values:
                found.append((place, values))
    return folds.value(fold.definition, [values for _, values in sorted(found)])


def seen_by(row: Row) -> str:
    return str(row.get("audience", "public"))


def _leaders(top: n.Top, rows: dict[str, Row], visible: Data, t: int) -> list[str]:
    """Return the msgids of the highest ranks, the highest first."""
    best: dict[str, list] = {}
    for bound in _bindings((top.binding,), rows, visible):
        if holds(top.condition, bound, visible, t) is True:
            score = total(top.aggregate, bound, visible, t)
            if score is not None and (top.aggregate.function, score) != ("COUNT", 0):
                best.setdefault(str(bound[top.binding.var]["msgid"]), []).append(score)
    ranked = sorted(best)
    ranked.sort(key=lambda msgid: max(best[msgid]), reverse=True)
    return ranked[: top.limit.value]


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _some_element(left, test):
    """Test a value, or the elements of a set."""
    return some([test(element) for element in left]) if isinstance(left, tuple) else test(left)


def value(term: n.Term, rows: dict[str, Row], t: int):
    """Return a term's value for one binding of the variables; a set is a tuple."""
    match term:
        case n.Column(var, name):
            kinds = next(
                table for table in COLUMNS.values() if ("kind" in table) == _note(rows, var)
            )
            found = cell(rows[var], name, kinds[name])
            return tuple(found) if kinds[name] is Type.SET else found
        case n.Literal(constant):
            return constant
        case n.Now():
            return t
        case n.Arith(op, left, right):
            a, b = value(left, rows, t), value(right, rows, t)
            if a is None or b is None:
                return None
            return a + b if op == "+" else a - b if op == "-" else a * b
        case n.Call("coalesce", args):
            return next((v for v in (value(a, rows, t) for a in args) if v is not None), None)
        case n.Call(name, args):
            first, *rest = (value(a, rows, t) for a in args)
            if first is None or None in rest:
                return None
            return _call(name, first, rest)
    raise TypeError(f"{type(term).__name__} is not a term of a checked tree")


def _note(rows: dict[str, Row], var: str) -> bool:
    return "annid" in rows[var]


def _call(name: str, text: str, rest: list):
    match name:
        case "lower":
            return text.lower()
        case "upper":
            return text.upper()
        case "length":
            return len(text)
        case "trim":
            return text.strip(" ")
        case "substr":
            start = rest[0] - 1
            return text[start : start + rest[1]] if len(rest) > 1 else text[start:]
    raise TypeError(f"{name} is not a documented function")
