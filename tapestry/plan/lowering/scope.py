"""Names to columns: terms and conditions as SQL for one SELECT."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from tapestry.core.clock import BEGINNING, NEVER
from tapestry.core.schema import Type
from tapestry.plan import sql
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import EventPoint

ARITHMETIC = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns that a SELECT sees.

    ``tables`` are the variables bound by tables of this SELECT; every other column, and
    every constant, is a column of ``outer``, a relation that has them (``m__msgid``, ``p0``).
    ``now`` is the column of the instant at which the filter is tested.
    """

    outer: str
    tables: frozenset[str] = frozenset()
    now: exp.Expr | None = field(default=None, compare=False)

    def binding(self, *variables: str) -> Scope:
        """Return the scope of a SELECT that binds variables besides."""
        return replace(self, tables=self.tables | set(variables))

    def outer_column(self, name: str) -> exp.Expr:
        """Return a column of the outer relation."""
        return sql.column(name, self.outer)

    def term(self, term: n.Term | n.Values) -> exp.Expr:
        """Return a term as an SQL expression; instants and durations are integers."""
        match term:
            case n.Column(var=var, name=name):
                if var in self.tables:
                    return table_column(var, name)
                return sql.column(column_alias(var, name), self.outer, quoted=True)
            case n.Literal(slot=None, value=value):
                return sql.literal(value)
            case n.Literal(slot=slot) | n.Values(slot=slot):
                return self.outer_column(f"p{slot}")
            case n.Now():
                if self.now is None:
                    raise ValueError("now() stands where no instant is bound")
                return self.now.copy()
            case n.Arith(op=op, left=left, right=right):
                return sql.paren(ARITHMETIC[op](this=self.term(left), expression=self.term(right)))
            case n.Reached():
                return self._reached(term)
            case n.Call(name=name, args=args):
                return sql.call(f"text_{name}", *map(self.term, args))
        raise ValueError(f"no SQL for {term!r}")

    def instant(self, point: EventPoint) -> exp.Expr:
        """Return an event point as an SQL expression."""
        term = self.term(point.term)
        if not point.shift:
            return term
        return sql.paren(exp.Add(this=term, expression=sql.literal(point.shift)))

    def _reached(self, reached: n.Reached) -> exp.Expr:
        """Return when the clock reaches an instant, before the window or never being far away."""
        since, low, high, term = map(
            self.term, (reached.since, reached.low, reached.high, reached.term)
        )
        return (
            exp.Case()
            .when(sql.le(term.copy(), low), sql.literal(BEGINNING), copy=False)
            .when(sql.gt(term.copy(), high), sql.literal(NEVER), copy=False)
            .when(
                sql.le(term.copy(), since),
                exp.Add(this=since.copy(), expression=sql.literal(1)),
                copy=False,
            )
            .else_(term, copy=False)
        )

    def condition(self, node: n.Condition) -> exp.Expr:
        """Return a plain condition or a temporal predicate as an SQL expression."""
        match node:
            case n.And(args=args):
                return sql.paren(sql.all_of(*map(self.condition, args)))
            case n.Or(args=args):
                return sql.paren(sql.any_of(*map(self.condition, args)))
            case n.Not(arg=arg):
                return sql.negate(sql.paren(self.condition(arg)))
            case n.Truth(value=value):
                return sql.eq(sql.literal(1), sql.literal(1 if value else 0))
            case n.Compare(op=op, left=left, right=right):
                if is_set(left):
                    return sql.call(f"set_{sql.NAMES[op]}", self.term(left), self.term(right))
                return sql.COMPARISONS[op](self.term(left), self.term(right))
            case n.Like(term=term, pattern=value):
                return self._test("matches", term, value)
            case n.Has(term=term, words=value):
                return self._test("has", term, value)
            case n.InList(term=term, values=values):
                return self._test("in", term, values)
            case n.IsNull(term=term):
                return sql.is_null(self.term(term))
        raise ValueError(f"no SQL for {node!r}")

    def _test(self, name: str, term: n.Term, value: n.Literal | n.Values) -> exp.Expr:
        kind = "set" if is_set(term) else "text" if name != "in" else "value"
        return sql.call(f"{kind}_{name}", self.term(term), self.term(value))


def is_set(term: n.Term) -> bool:
    """Tell whether a term is a column of several values."""
    return isinstance(term, n.Column) and term.type is Type.SET


def table_alias(var: str) -> str:
    """Return the name under which a SELECT reads the table of a variable."""
    return f"v_{var}"


def table_column(var: str, name: str) -> exp.Column:
    """Return a column of a table that a SELECT reads."""
    return sql.column(name, table_alias(var), quoted=True)


def column_alias(var: str, name: str) -> str:
    """Return the column under which a relation has a variable's column.

    >>> column_alias("m", "msgid")
    'm__msgid'
    """
    return f"{var}__{name}"
