"""What a filter means, computed the slow way (DESIGN.md, "Semantics"): Q at every instant.

The judge of everything that is rewritten, planned and run.  A filter's tree is printed as
one correlated query, ``now()`` is ``:t``, every table reference is limited to the rows with
``ts <= :t`` of the allowed audiences, annotations to those that stand, and sqlite is asked at
every instant at which the answer can change.  Nothing here knows how the product computes it.

``data`` maps "messages" and "annotations" to lists of rows, dicts with the columns of
LANGUAGE.md: a missing column is NULL, a missing set empty, a missing audience public.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from itertools import product

from hypothesis import reject

from tapestry.core.schema import COLUMNS, Type
from tapestry.query.tree import nodes as n
from tests.support.engines import folds
from tests.support.oracle.values import Row, cell, compare, has, like, some

Data = dict[str, list[Row]]


class _Printer:
    """Prints a checked tree as sqlite's SQL; constants become parameters."""

    def __init__(self, audiences: Sequence[str]) -> None:
        self.parameters: dict[str, object] = {}
        self.allowed = ", ".join(self.constant(audience) for audience in audiences)

    def constant(self, value: object) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def query(self, query: n.CheckedQuery) -> str:
        rows = self.rows((n.Binding(query.var, "messages"),), query.condition)
        return f"SELECT DISTINCT {query.var}.msgid {rows}"

    def rows(self, bindings: Sequence[n.Binding], condition: n.Condition) -> str:
        tables = ", ".join(f"{b.table} AS {b.var}" for b in bindings)
        seen = " AND ".join(
            f"{b.var}.ts <= :t AND {b.var}.audience IN ({self.allowed})"
            + (f" AND {stands(b.var)}" if b.table == "annotations" else "")
            for b in bindings
        )
        return f"FROM {tables} WHERE {seen} AND {self.condition(condition)}"

    def aggregate(self, a: n.Aggregate) -> str:
        """Print a scalar subquery, of the last rows with their places.

        ``v`` keeps a term of outer columns only an inner one.
        """
        if isinstance(a.term, n.Fold):
            return self.fold(a, a.term)
        term = "1" if a.term is None else self.term(a.term)
        distinct = "DISTINCT " if a.distinct else ""
        rows = f"SELECT {term} AS v {self.rows(a.bindings, a.condition)}"
        if a.among:
            rows = f"SELECT {term} AS v, {self.condition(a.among.test)} AS counts"
            there = self.rows(a.bindings, a.condition)
            if a.among.limit:
                (row,) = a.bindings
                at, key = ("received", "msgid") if row.table == "messages" else ("ts", "annid")
                places = f"ORDER BY {row.var}.{at} DESC, {row.var}.{key}"
                rows += f", dense_rank() OVER ({places}) AS place {there}"
                rows = f"SELECT v, counts FROM ({rows}) WHERE place <= {self.term(a.among.limit)}"
            else:
                rows += f" {there}"
        if a.function in ("SHARE", "NTILE"):
            numbers = f"COUNT({distinct}v) FILTER (WHERE counts), COUNT({distinct}v)"
            tiles = f", {self.term(a.among.tiles)}" if a.among.tiles else ""
            return f"(SELECT {a.function.lower()}({numbers}{tiles}) FROM ({rows}))"
        if a.among:
            rows = f"SELECT v FROM ({rows}) WHERE counts"
        return f"(SELECT {a.function}({distinct}v) FROM ({rows}))"

    def fold(self, a: n.Aggregate, fold: n.Fold) -> str:
        """Print an aggregate that is defined in SQL; its rows are ordered by ``place``."""
        latest = f"max(-1, {', '.join(f'{b.var}.ts' for b in a.bindings)})"
        mail = [f"{b.var}.received" for b in a.bindings if b.table == "messages"]
        keys = [f"{b.var}.{'annid' if b.table == 'annotations' else 'msgid'}" for b in a.bindings]
        seen = [f"{b.var}.audience" for b in a.bindings]
        place = f"json_array({', '.join([latest, *mail, *keys, *seen])}) AS place"
        values = [f"{self.term(arg)} AS v{i}" for i, arg in enumerate(fold.args)]
        rows = f"SELECT {', '.join([place, *values])} {self.rows(a.bindings, a.condition)}"
        named = ", ".join(f"v{i}" for i in range(len(values)))
        return f"(SELECT fold({self.constant(fold.definition)}, place, {named}) FROM ({rows}))"

    def top(self, top: n.Top) -> str:
        """Print the msgids that are among the first; one for which no row counts is not."""
        x = top.binding.var
        rows = self.rows((top.binding,), top.condition)
        counted = "> 0" if top.aggregate.function == "COUNT" else "IS NOT NULL"
        return (
            f"SELECT {x}_id FROM"
            f" (SELECT {x}.msgid AS {x}_id, {self.aggregate(top.aggregate)} AS {x}_value {rows})"
            f" WHERE {x}_value {counted} GROUP BY {x}_id"
            f" ORDER BY MAX({x}_value) DESC, {x}_id LIMIT {self.term(top.limit)}"
        )

    def condition(self, c: n.Condition) -> str:
        match c:
            case n.Truth(value):
                return "1" if value else "0"
            case n.Not(arg):
                return f"(NOT {self.condition(arg)})"
            case n.And(args):
                return "(" + " AND ".join(map(self.condition, args)) + ")"
            case n.Or(args):
                return "(" + " OR ".join(map(self.condition, args)) + ")"
            case n.Exists(bindings, condition):
                return f"EXISTS (SELECT 1 {self.rows(bindings, condition)})"
            case n.InQuery(term, value, bindings, condition):
                inner = f"SELECT {self.term(value)} {self.rows(bindings, condition)}"
                return f"({self.term(term)} IN ({inner}))"
            case n.Threshold(aggregate, op, constant):
                return f"({self.aggregate(aggregate)} {op} {self.term(constant)})"
            case n.Top():
                return f"({self.term(c.message)} IN ({self.top(c)}))"
            case n.Compare(op, left, right) if is_set(left):
                return f"any_compare({self.term(left)}, '{op}', {self.term(right)})"
            case n.Compare(op, left, right):
                return f"({self.term(left)} {op} {self.term(right)})"
            case n.Like(term, pattern):
                call = "any_like" if is_set(term) else "like_"
                return f"{call}({self.term(term)}, {self.term(pattern)})"
            case n.Has(term, wanted):
                call = "any_has" if is_set(term) else "has"
                return f"{call}({self.term(term)}, {self.term(wanted)})"
            case n.InList(term, values) if is_set(term):
                listed = self.constant(json.dumps(list(values.values)))
                return f"any_among({self.term(term)}, {listed})"
            case n.InList(term, values):
                return f"({self.term(term)} IN ({', '.join(map(self.constant, values.values))}))"
            case n.IsNull(term):
                return f"({self.term(term)} IS NULL)"
        raise TypeError(f"{type(c).__name__} is not a condition of a checked tree")

    def term(self, term: n.Term) -> str:
        match term:
            case n.Column(var, name):
                return f'{var}."{name}"'
            case n.Literal(value):
                return self.constant(value)
            case n.Now():
                return ":now"
            case n.Arith(op, left, right):
                return f"({self.term(left)} {op} {self.term(right)})"
            case n.Call(name, args):
                return f"{FUNCTIONS[name]}({', '.join(map(self.term, args))})"
        raise TypeError(f"{type(term).__name__} is not a term of a checked tree")


def stands(var: str) -> str:
    """Print that an annotation is none that takes another back, and was not taken back by ``:t``.

    A retraction of it has its annid for a value, and the same message, owner and audience.  This
    is said here once more, in SQL of its own: the judge takes nothing from what it judges.
    """
    same = " AND ".join(f"taken.{name} = {var}.{name}" for name in ("msgid", "owner", "audience"))
    return (
        f"{var}.kind IS NOT 'retraction' AND NOT EXISTS (SELECT 1 FROM annotations AS taken"
        f" WHERE taken.kind = 'retraction' AND taken.value = {var}.annid AND {same}"
        " AND taken.ts <= :t)"
    )


THREADS = """
INSERT INTO threads
WITH RECURSIVE named AS (
  SELECT rowid AS id, msgid, audience, ts, inreplyto, "references" ->> 0 AS first FROM messages),
above(id, parent) AS (
  SELECT x.id, p.id FROM named x JOIN named p ON p.msgid = x.inreplyto
  AND p.audience IN (x.audience, 'public') AND p.ts = x.ts
  WHERE x.first IS NULL AND p.first IS NULL
  UNION
  SELECT above.id, p.id FROM above JOIN named x ON x.id = above.parent
  JOIN named p ON p.msgid = x.inreplyto AND p.audience IN (x.audience, 'public') AND p.ts = x.ts
  WHERE p.first IS NULL),
fact(msgid, ts, root, audience) AS (
  SELECT x.msgid, x.ts, CASE
    WHEN x.id IN (SELECT a.id FROM above a WHERE a.id = a.parent) THEN x.msgid
    ELSE coalesce(x.first, x.inreplyto, x.msgid) END, x.audience
  FROM named x
  WHERE x.first IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM named p
    WHERE p.msgid = x.inreplyto AND p.audience IN (x.audience, 'public') AND p.ts <= x.ts)
  OR x.id IN (SELECT a.id FROM above a WHERE a.id = a.parent) AND NOT EXISTS (
    SELECT 1 FROM above a JOIN above b ON b.id = a.parent AND b.parent = a.id
    JOIN named o ON o.id = a.parent
    WHERE a.id = x.id AND (o.msgid, o.audience) < (x.msgid, x.audience))
  UNION
  SELECT x.msgid, max(x.ts, f.ts), f.root, x.audience
  FROM fact f JOIN messages x ON x.inreplyto = f.msgid AND f.audience IN (x.audience, 'public'))
SELECT msgid, min(ts), root, audience FROM fact GROUP BY msgid, audience, root
"""
"""The facts about threads: a message belongs to the thread that its first reference names, or its
parent if that is not there, or itself, as does the first of a circle (``above``: what a message
answers, directly or not, of those that came with it), and to every thread of its parent; said once
more, as a recursive query over all messages, with the first instant of each fact."""

FUNCTIONS = {
    "lower": "lower_",
    "upper": "upper_",
    "length": "length",
    "substr": "substr",
    "trim": "trim",
    "coalesce": "coalesce",
}


def is_set(term: n.Term) -> bool:
    return isinstance(term, n.Column) and term.type is Type.SET


def _open(data: Data) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", cached_statements=512)
    for table, columns in COLUMNS.items():
        names = ", ".join(f'"{name}"' for name in columns)
        db.execute(f"CREATE TABLE {table} ({names})")
        marks = ", ".join("?" * len(columns))
        db.executemany(
            f"INSERT INTO {table} VALUES ({marks})",
            [
                [_stored(row, name, kind) for name, kind in columns.items()]
                for row in data.get(table, ())
            ],
        )
    db.execute(THREADS)

    def elementwise(test):
        return lambda elements, *rest: some(test(e, *rest) for e in json.loads(elements))

    def function(name: str, arity: int, call: object) -> None:
        db.create_function(name, arity, call, deterministic=True)

    db.create_aggregate("fold", -1, _Folded)
    function("ntile", 3, folds.tile)
    function("share", 2, lambda part, number: part / number if number else None)
    function("like_", 2, like)
    function("has", 2, has)
    function("lower_", 1, lambda text: None if text is None else text.lower())
    function("upper_", 1, lambda text: None if text is None else text.upper())
    function("any_like", 2, elementwise(like))
    function("any_has", 2, elementwise(has))
    function("any_compare", 3, elementwise(compare))
    function(
        "any_among",
        2,
        lambda elements, listed: bool(set(json.loads(elements)) & set(json.loads(listed))),
    )
    return db


class _Folded:
    """Collects the rows of an aggregate that is defined in SQL, and goes over them in order."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, tuple[object, ...]]] = []
        self.definition = ""

    def step(self, definition: str, place: str, *values: object) -> None:
        self.definition = definition
        if None not in values:
            self.rows.append((json.loads(place), values))

    def finalize(self) -> object:
        if not self.rows:
            return None
        return folds.value(self.definition, [values for _, values in sorted(self.rows)])


def _stored(row: Row, name: str, kind: Type) -> object:
    value = cell(row, name, kind)
    return json.dumps(list(value)) if kind is Type.SET else value  # type: ignore[call-overload]


class Oracle:
    """One filter over one set of tables, for an owner who may see ``audiences``."""

    def __init__(
        self,
        query: n.CheckedQuery,
        data: Data,
        audiences: Sequence[str],
        db: sqlite3.Connection | None = None,
        clock: Callable[[int], int] | None = None,
        steps: Sequence[int] = (),
    ) -> None:
        """Judge a filter; ``clock`` is what now() is at t, and ``steps`` are where it steps."""
        printer = _Printer(audiences)
        self.sql, self.parameters = printer.query(query), printer.parameters
        self.query, self.data, self.audiences = query, data, audiences
        self.db = db or _open(data)
        self.clock, self.steps = clock or (lambda t: t), steps

    @cached_property
    def events(self) -> list[int]:
        """Every instant at which the answer can change."""
        return sorted({*instants(self.data, self.query), *self.steps})

    def answer(self, t: int) -> set[str]:
        """Return Q(t); a random query that is nested too deeply for SQLite is drawn again."""
        at = {"t": t, "now": self.clock(t)}
        try:
            return {msgid for (msgid,) in self.db.execute(self.sql, self.parameters | at)}
        except sqlite3.OperationalError as error:
            if str(error) == "parser stack overflow":
                reject()
            raise

    def ever(self, t: int, after: int | None = None) -> dict[str, int]:
        """Return QM(t), or what is in some Q(s) with ``after < s <= t``, and the first such s."""
        first: dict[str, int] = {}
        for s in self.events:
            if s <= t and (after is None or s > after):
                for msgid in self.answer(s):
                    first.setdefault(msgid, s)
        return first

    def delivered(self, schedule: Sequence[int], start: int | None = None) -> list[dict[str, int]]:
        """Return what each run of a schedule delivers, with its ``matched_at``."""
        if not schedule:
            return []
        first = self.ever(schedule[-1], after=start)
        if start is not None:
            present = self.answer(start)
            first = {msgid: at for msgid, at in first.items() if msgid not in present}
        runs, since = [], start
        for until in schedule:
            runs.append(
                {m: at for m, at in first.items() if (since is None or since < at) and at <= until}
            )
            since = until
        return runs


def answer(query: n.CheckedQuery, data: Data, audiences: Sequence[str], t: int) -> set[str]:
    """Return Q(t): the msgids that satisfy the filter at ``t``."""
    return Oracle(query, data, audiences).answer(t)


def ever(query: n.CheckedQuery, data: Data, audiences: Sequence[str], t: int) -> dict[str, int]:
    """Return QM(t): the msgids that satisfied it at some instant up to ``t``, and the first."""
    return Oracle(query, data, audiences).ever(t)


def delivered(
    query: n.CheckedQuery,
    data: Data,
    audiences: Sequence[str],
    schedule: Sequence[int],
    start: int | None = None,
) -> list[dict[str, int]]:
    """Return, for each run of an increasing schedule, the msgids delivered and matched_at.

    ``start`` is T0: what matched at T0 is never delivered, and of the rest the first
    ``s > T0`` counts.  None takes existing mail.
    """
    return Oracle(query, data, audiences).delivered(schedule, start)


# The instants at which an answer can change.


def instants(data: Data, query: n.CheckedQuery) -> list[int]:
    """Return every instant at which the answer can change, by brute force.

    Every ``ts`` of every row; and for every comparison with ``now()``, for every way to bind
    its variables to rows, the instant at which it flips, and the next microsecond.
    """
    found = {int(row["ts"]) for rows in data.values() for row in rows}
    table_of = {query.var: "messages"}
    bindings = (node for node in walk(query.condition) if isinstance(node, n.Binding))
    table_of |= {b.var: b.table for b in bindings if b.table}
    for node in walk(query.condition):
        kinds = {type(part) for part in walk(node)} if isinstance(node, n.Compare) else set()
        if n.Now in kinds and n.Over not in kinds:
            used = sorted({part.var for part in walk(node) if isinstance(part, n.Column)})
            for rows in product(*(data[table_of[var]] for var in used)):
                found.update(_flips(node, dict(zip(used, rows, strict=True))))
    return sorted(found)


def _flips(comparison: n.Compare, rows: dict[str, Row]) -> list[int]:
    """Solve ``left - right = 0`` for now(), a line through its values at 0 and 1."""
    at = [
        (number(comparison.left, rows, now), number(comparison.right, rows, now)) for now in (0, 1)
    ]
    if any(left is None or right is None for left, right in at):
        return []
    (left0, right0), (left1, right1) = at
    height = left0 - right0
    slope = left1 - right1 - height
    if slope == 0:
        return []
    root = -height // slope
    return [root, root + 1]


def number(term: n.Term, rows: dict[str, Row], now: int) -> int | None:
    """Evaluate an instant, a duration or a number, with integers."""
    match term:
        case n.Now():
            return now
        case n.Literal(value):
            return value  # type: ignore[return-value]
        case n.Column(var, name):
            return cell(rows[var], name, Type.INSTANT)  # type: ignore[return-value]
        case n.Call("coalesce", args):
            return next((v for v in (number(a, rows, now) for a in args) if v is not None), None)
        case n.Arith(op, left, right):
            a, b = number(left, rows, now), number(right, rows, now)
            if a is None or b is None:
                return None
            return {"+": a + b, "-": a - b, "*": a * b}[op]
    raise TypeError(f"{term} has no place in a comparison with now()")


def walk(node: object) -> Iterator[object]:
    """Yield a node and all below it."""
    if isinstance(node, tuple):
        for part in node:
            yield from walk(part)
    elif isinstance(node, n.Node):
        yield node
        for field in fields(node):
            if field.name != "span":
                yield from walk(getattr(node, field.name))
