"""Names to columns: print terms and conditions as SQL for one SELECT."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from tapestry.core.schema import Type
from tapestry.query.tree.nodes import (
    And,
    Arith,
    Call,
    Column,
    Compare,
    Condition,
    Has,
    InList,
    IsNull,
    Like,
    Literal,
    Not,
    Now,
    Or,
    Term,
    Truth,
    Values,
)
from tapestry.rewrite.stages import EventPoint

COMPARISONS = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
ARITHMETIC = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}
SET_COMPARISONS = {
    "=": "set_eq",
    "<>": "set_ne",
    "<": "set_lt",
    "<=": "set_le",
    ">": "set_gt",
    ">=": "set_ge",
}
"""Functions of (set, value) that each engine brings; see ``spark_sql.py``."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a SELECT finds its columns.

    ``tables`` are the variables bound by tables of this SELECT; every other column, and
    every constant, is a column of ``outer``, a relation that carries them (``m__msgid``,
    ``p0``).  ``now`` is the column of the instant at which the filter is tested.
    """

    outer: str
    tables: frozenset[str] = frozenset()
    now: exp.Expr | None = field(default=None, compare=False)

    def binding(self, *variables: str) -> Scope:
        return replace(self, tables=self.tables | set(variables))

    def outer_column(self, name: str) -> exp.Expr:
        return exp.column(name, self.outer)

    def term(self, term: Term | Values) -> exp.Expr:
        """Return a term as an SQL expression; instants and durations are integers."""
        match term:
            case Column(var=var, name=name):
                if var in self.tables:
                    return column(var, name)
                return exp.column(column_alias(var, name), self.outer, quoted=True)
            case Literal(slot=None, value=None):
                return exp.null()
            case Literal(slot=None, value=value):
                return exp.convert(value)
            case Literal(slot=slot) | Values(slot=slot):
                return exp.column(f"p{slot}", self.outer)
            case Now():
                if self.now is None:
                    raise ValueError("now() stands where no instant is bound")
                return self.now.copy()
            case Arith(op=op, left=left, right=right):
                made = ARITHMETIC[op](this=self.term(left), expression=self.term(right))
                return exp.paren(made, copy=False)
            case Call(name=name, args=args):
                return exp.Anonymous(this=f"text_{name}", expressions=[*map(self.term, args)])
        raise ValueError(f"no SQL for {term!r}")

    def moment(self, moment: EventPoint) -> exp.Expr:
        """Return an instant as an SQL expression."""
        term = self.term(moment.term)
        if not moment.shift:
            return term
        return exp.paren(exp.Add(this=term, expression=exp.convert(moment.shift)), copy=False)

    def condition(self, node: Condition) -> exp.Expr:
        """Return a plain condition or a time comparison as an SQL expression."""
        match node:
            case And(args=args):
                return exp.paren(exp.and_(*map(self.condition, args), copy=False), copy=False)
            case Or(args=args):
                return exp.paren(exp.or_(*map(self.condition, args), copy=False), copy=False)
            case Not(arg=arg):
                return exp.not_(exp.paren(self.condition(arg), copy=False), copy=False)
            case Truth(value=value):
                return exp.EQ(this=exp.convert(1), expression=exp.convert(1 if value else 0))
            case Compare(op=op, left=left, right=right):
                sides = [self.term(left), self.term(right)]
                if is_set(left):
                    return exp.Anonymous(this=SET_COMPARISONS[op], expressions=sides)
                return COMPARISONS[op](this=sides[0], expression=sides[1])
            case Like(term=term, pattern=value):
                return self._test("like", term, value)
            case Has(term=term, words=value):
                return self._test("has", term, value)
            case InList(term=term, values=values):
                return self._test("in", term, values)
            case IsNull(term=term):
                return exp.Is(this=self.term(term), expression=exp.null())
        raise ValueError(f"no SQL for {node!r}")

    def _test(self, name: str, term: Term, value: Literal | Values) -> exp.Expr:
        kind = "set" if is_set(term) else "text" if name != "in" else "value"
        return exp.Anonymous(this=f"{kind}_{name}", expressions=[self.term(term), self.term(value)])


def is_set(term: Term) -> bool:
    return isinstance(term, Column) and term.type is Type.SET


def alias(var: str) -> str:
    """Return the name under which a SELECT reads the table of a variable."""
    return f"v_{var}"


def column(var: str, name: str) -> exp.Column:
    """Return a column of a table that a SELECT reads."""
    return exp.column(name, alias(var), quoted=True)


def column_alias(var: str, name: str) -> str:
    """Return the column under which a relation carries a variable's column."""
    return f"{var}__{name}"
