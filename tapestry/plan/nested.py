"""Lower what a conjunction asks of other rows: joins, NOT EXISTS, aggregates and top-k.

Candidates are a relation ``(fid, disjunct, audiences, c, constants …, columns …)``.  A NOT
EXISTS is an anti-join with it; one with something nested inside becomes a relation of its
own, the candidates carried inwards.  An aggregate is a join with it, grouped by candidate.
Every table is limited to the rows visible at c and to the audiences of the filter's owner.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product

from sqlglot import exp

from tapestry.core.schema import KEYS
from tapestry.plan.assembly import Assembly, first
from tapestry.plan.group import Member
from tapestry.plan.relation import Range
from tapestry.plan.scope import COMPARISONS, Scope, alias, carried_name, column
from tapestry.plan.signature import Value
from tapestry.query.nodes import Binding, Column, Literal, Now, Values
from tapestry.rewrite.analysis import walk
from tapestry.rewrite.stages import Conjunction, Measured, Ranked, Total

KEY = ("fid", "disjunct", "c")
"""What a candidate is known by, beside the columns that are carried with it."""

AGGREGATES = {"COUNT": exp.Count, "SUM": exp.Sum, "AVG": exp.Avg, "MIN": exp.Min, "MAX": exp.Max}


class Nested:
    """Lowers for the members of one group, into one assembly."""

    def __init__(self, assembly: Assembly, members: Sequence[Member]) -> None:
        self.assembly = assembly
        self.members = members

    def conditions(self, part: Conjunction, scope: Scope) -> list[exp.Expr]:
        """Return the tests of what is nested in a conjunction, for a relation of candidates."""
        tests = [self._absent(inner, scope) for inner in part.absent]
        tests += [self._measured(measured, scope) for measured in part.measured]
        return tests + [
            self._in_rank(top, scope) for top in part.ranked if not _joined(top, part.bindings)
        ]

    def join(self, select: exp.Select, part: Conjunction, outer: Scope) -> exp.Select:
        """Add a conjunction's tables and its own conditions, at the outer relation's c."""
        scope = outer.binding(*(b.var for b in part.bindings))
        for binding in part.bindings:
            select = _from(select, self.table(binding, None))
            ts = column(binding.var, "ts")
            visible_at = exp.LTE(this=ts, expression=scope.term(Now()))
            select = select.where(self.visible(binding, scope), visible_at, copy=False)
        for top in part.ranked:
            if _joined(top, part.bindings):
                name = self._rank(top, outer)
                select = _from(select, exp.to_table(name))
                select = select.where(*_of_rank(name, top, scope), copy=False)
        conditions = [scope.condition(c) for c in (*part.plain, *part.times)]
        return select.where(*conditions, copy=False) if conditions else select

    def carry(
        self,
        select: exp.Select,
        scope: Scope,
        columns: set[tuple[str, str]],
        parameters: set[int],
        c: exp.Expr,
    ) -> exp.Select:
        """Have a SELECT give a relation of candidates with these columns and constants."""
        carried = [scope.carried(name) for name in ("fid", "disjunct", "audiences")]
        carried += [scope.carried(f"p{slot}") for slot in sorted(parameters)]
        for var, name in sorted(columns):
            value = scope.term(Column(var, name))
            carried.append(exp.alias_(value, carried_name(var, name), quoted=True, copy=False))
        return select.select(*carried, exp.alias_(c.copy(), "c", copy=False), copy=False)

    def table(self, binding: Binding, ranges: tuple[Range, ...] | None) -> exp.Expr:
        """Return a variable's table, or a slice of it."""
        name = self.assembly.view(binding.table, ranges)
        return exp.to_table(name).as_(alias(binding.var), quoted=True)

    def visible(self, binding: Binding, scope: Scope) -> exp.Expr:
        """Return the test that the filter's owner may see a row."""
        audience = column(binding.var, "audience")
        return exp.Anonymous(this="visible", expressions=[scope.carried("audiences"), audience])

    def _absent(self, part: Conjunction, outer: Scope) -> exp.Expr:
        """Return NOT EXISTS of a conjunction for a relation of candidates."""
        if not part.nested:
            inner = self.join(exp.select(exp.convert(1), copy=False), part, outer)
            return exp.not_(exp.Exists(this=inner), copy=False)
        free = free_columns((part,))
        rows = self.join(exp.select().from_(exp.to_table(outer.outer), copy=False), part, outer)
        wanted = free | free_columns(part.nested)
        scope = outer.binding(*(b.var for b in part.bindings))
        rows = self.carry(rows, scope, wanted, slots(part.nested), exp.column("c", outer.outer))
        name = self.assembly.name(rows.distinct(copy=False))
        left = _select_from(name, _keys(free)).distinct(copy=False)
        left = left.where(*self.conditions(part, _at_c(name)), copy=False)
        return exp.not_(_among(self.assembly.name(left), _keys(free), outer), copy=False)

    # Aggregates

    def _measured(self, measured: Measured, outer: Scope) -> exp.Expr:
        """Return the test of an aggregate: a group that passes it, or none where 0 does."""
        total, constant = measured.total, measured.constant
        free = free_columns((measured,))
        base = self._base(outer, slots(measured), free)
        wanted = slots(constant)
        rows = self._rows(base, total, total.rows, (), free, wanted)
        keys = _keys(free)
        fixed = [exp.column(f"p{slot}", rows) for slot in sorted(wanted)]
        groups = _select_from(rows, keys).group_by(
            *(exp.column(key, rows, quoted=True) for key in keys), *fixed, copy=False
        )
        compare = COMPARISONS[measured.op]
        test = compare(this=_value(total, rows), expression=_at_c(rows).term(constant))
        passed = _among(self.assembly.name(groups.having(test)), keys, outer)
        none = [measured.passes_none(self._constant(constant, one)) for one in self.members]
        if not any(none):
            return passed
        failed = _among(self.assembly.name(groups.having(exp.not_(test.copy()))), keys, outer)
        if all(none):
            return exp.not_(failed, copy=False)
        zero = compare(this=exp.convert(0), expression=outer.term(constant))
        return exp.paren(exp.or_(passed, exp.and_(zero, exp.not_(failed))), copy=False)

    def _constant(self, constant: Literal, member: Member) -> Value | None:
        """Return what stands for a constant in a member."""
        if constant.slot is None:
            return constant.value
        return {c.slot: c.value for c in member.constants}[constant.slot]

    def _in_rank(self, top: Ranked, outer: Scope) -> exp.Expr:
        """Return whether a candidate's message is, or is not, among the top."""
        name = self._rank(top, outer)
        one = exp.select(exp.convert(1), copy=False).from_(exp.to_table(name), copy=False)
        there = exp.Exists(this=one.where(*_of_rank(name, top, outer), copy=False))
        return exp.not_(there, copy=False) if top.negated else there

    def _rank(self, top: Ranked, outer: Scope) -> str:
        """Return the relation ``(fid, disjunct, c, msgid)`` of what is on top at each c."""
        base = self._base(outer, slots((top.limit, top.among, top.total)), set())
        message = top.binding.var
        parts = [_both(among, row) for among, row in product(top.among, top.total.rows)]
        kept = slots(top.limit)
        row = {(message, "msgid"), (message, "audience")}
        rows = self._rows(base, top.total, parts, (top.binding,), row, kept)
        keys = [*KEY, *(f"p{slot}" for slot in sorted(kept))]
        msgid = exp.column(carried_name(message, "msgid"), rows, quoted=True)
        value = _value(top.total, rows)
        groups = _select_from(rows, keys).select(
            exp.alias_(msgid, "msgid", copy=False), exp.alias_(value, "value", copy=False)
        )
        groups = groups.group_by(
            *(exp.column(key, rows) for key in keys),
            *(exp.column(carried_name(*one), rows, quoted=True) for one in sorted(row)),
        )
        if top.total.function == "COUNT":
            groups = groups.having(exp.GT(this=value.copy(), expression=exp.convert(0)))
        else:
            groups = groups.having(exp.not_(exp.Is(this=value.copy(), expression=exp.null())))
        valued = self.assembly.name(groups)
        best = _select_from(valued, [*keys, "msgid"]).select(
            exp.alias_(exp.Max(this=exp.column("value", valued)), "value", copy=False)
        )
        best = best.group_by(*(exp.column(key, valued) for key in [*keys, "msgid"]))
        highest = self.assembly.name(best)
        placed = _select_from(highest, [*keys, "msgid"]).select(
            exp.alias_(first(KEY, ("value", "msgid"), descending="value"), "place", copy=False)
        )
        placed_name = self.assembly.name(placed)
        within = exp.LTE(
            this=exp.column("place", placed_name), expression=_at_c(placed_name).term(top.limit)
        )
        return self.assembly.name(_select_from(placed_name, [*KEY, "msgid"]).where(within))

    def _base(self, outer: Scope, parameters: set[int], columns: set[tuple[str, str]]) -> str:
        """Return the candidates once each, with what an aggregate needs to know of them."""
        select = exp.select().from_(exp.to_table(outer.outer), copy=False)
        c = exp.column("c", outer.outer)
        select = self.carry(select, Scope(outer.outer), columns, parameters, c)
        return self.assembly.name(select.distinct(copy=False))

    def _rows(
        self,
        base: str,
        total: Total,
        parts: Sequence[Conjunction],
        also: tuple[Binding, ...],
        columns: set[tuple[str, str]],
        parameters: set[int],
    ) -> str:
        """Return the rows that an aggregate counts, each once for each candidate.

        With the columns and constants wanted, and those that the aggregate's term reads.
        """
        bindings = (*also, *total.bindings)
        once = len(parts) == 1 and not parts[0].bindings
        term = {(n.var, n.name) for n in walk(total.term) if isinstance(n, Column)}
        wanted = columns | term | (set() if once else _identity(bindings))
        constants = parameters | slots(total.term)
        names = ["fid", "disjunct", "audiences", *(f"p{slot}" for slot in sorted(constants))]
        names += [*(carried_name(*one) for one in sorted(wanted)), "c"]
        found: list[exp.Query] = []
        for part in parts:
            whole = Conjunction(
                (*bindings, *part.bindings), part.plain, part.times, part.absent,
                part.measured, part.ranked,
            )  # fmt: skip
            scope = _at_c(base)
            rows = self.join(exp.select().from_(exp.to_table(base), copy=False), whole, scope)
            inner = scope.binding(*(b.var for b in whole.bindings))
            needed = wanted | free_columns(whole.nested)
            rows = self.carry(
                rows, inner, needed, constants | slots(whole.nested), exp.column("c", base)
            )
            if whole.nested:
                name = self.assembly.name(rows)
                rows = _select_from(name, names).where(
                    *self.conditions(whole, _at_c(name)), copy=False
                )
            found.append(rows)
        union = found[0]
        for query in found[1:]:
            union = exp.union(union, query, distinct=False, copy=False)
        name = self.assembly.name(union)
        if once:
            return name
        return self.assembly.name(_select_from(name, names).distinct(copy=False))


def _from(select: exp.Select, table: exp.Expr) -> exp.Select:
    if select.args.get("from_"):
        return select.join(table, join_type="cross", copy=False)
    return select.from_(table, copy=False)


def _select_from(name: str, columns: Collection[str]) -> exp.Select:
    found = [exp.column(column, name, quoted=True) for column in columns]
    return exp.select(*found, copy=False).from_(exp.to_table(name), copy=False)


def _at_c(name: str) -> Scope:
    return Scope(name, now=exp.column("c", name))


def _keys(free: set[tuple[str, str]]) -> list[str]:
    return [*KEY, *sorted(carried_name(*one) for one in free)]


def _among(name: str, keys: Sequence[str], outer: Scope) -> exp.Expr:
    """Return whether a candidate stands in a relation of its keys."""
    same = [
        exp.NullSafeEQ(
            this=exp.column(key, name, quoted=True),
            expression=exp.column(key, outer.outer, quoted=True),
        )
        for key in keys
    ]
    one = exp.select(exp.convert(1), copy=False).from_(exp.to_table(name), copy=False)
    return exp.Exists(this=one.where(*same, copy=False))


def _of_rank(name: str, top: Ranked, scope: Scope) -> list[exp.Expr]:
    same: list[exp.Expr] = [
        exp.EQ(this=exp.column(key, name), expression=exp.column(key, scope.outer)) for key in KEY
    ]
    message = exp.EQ(this=exp.column("msgid", name), expression=scope.term(top.message))
    return [*same, message]


def _joined(top: Ranked, bindings: tuple[Binding, ...]) -> bool:
    """Tell whether a rank can be joined: it finds the message that the conjunction binds."""
    return not top.negated and any(binding.var == top.message.var for binding in bindings)


def _both(one: Conjunction, other: Conjunction) -> Conjunction:
    return Conjunction(
        (*one.bindings, *other.bindings),
        (*one.plain, *other.plain),
        (*one.times, *other.times),
        (*one.absent, *other.absent),
        (*one.measured, *other.measured),
        (*one.ranked, *other.ranked),
    )


def _identity(bindings: Sequence[Binding]) -> set[tuple[str, str]]:
    keys = {(b.var, KEYS[b.table]) for b in bindings}
    return keys | {(b.var, "audience") for b in bindings}


def _value(total: Total, rows: str) -> exp.Expr:
    """Return the aggregate over a relation of rows."""
    if total.term is None:
        return exp.Count(this=exp.convert(1))
    term = _at_c(rows).term(total.term)
    return AGGREGATES[total.function](
        this=exp.Distinct(expressions=[term]) if total.distinct else term
    )


Nest = Conjunction | Measured | Ranked


def free_columns(parts: Collection[Nest]) -> set[tuple[str, str]]:
    """Return the (variable, column) pairs that some parts read and do not themselves bind."""
    found: set[tuple[str, str]] = set()
    for part in parts:
        match part:
            case Conjunction():
                own = {binding.var for binding in part.bindings}
                read = _columns((part.plain, part.times)) | free_columns(part.nested)
            case Measured(total=total):
                own = {binding.var for binding in total.bindings}
                read = _columns(total.term) | free_columns(total.rows)
            case Ranked():
                own = {part.binding.var, *(binding.var for binding in part.total.bindings)}
                read = _columns((part.message, part.total.term))
                read |= free_columns(part.total.rows) | free_columns(part.among)
        found |= {(var, name) for var, name in read if var not in own}
    return found


def _columns(tree: object) -> set[tuple[str, str]]:
    return {(n.var, n.name) for n in walk(tree) if isinstance(n, Column)}


def slots(tree: object) -> set[int]:
    """Return the slots of the constants a tree reads."""
    return {
        node.slot
        for node in walk(tree)
        if isinstance(node, Literal | Values) and node.slot is not None
    }
