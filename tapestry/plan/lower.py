"""Lower disjuncts to one SQL statement, each for all members of its group.

Spark refuses a correlated subquery that reaches over a level, so quantifiers become joins:
candidates are a relation ``(filter, disjunct, c, columns …)``; a NOT EXISTS without another
inside is an anti-join with it; one with another inside becomes a relation of its own, the
candidates carried inwards, and an anti-join with what is left of that.  Every table reference
is limited to the rows visible at c and to the audiences of the filter's owner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from tapestry.core.schema import KEYS, Type
from tapestry.plan.group import Group, constants, slices
from tapestry.plan.relation import OUTPUT, SEPARATOR, Field, Range, Relation, Statement, View
from tapestry.plan.scope import Scope, alias, carried_name, column
from tapestry.query.nodes import Binding, Column, Literal, Now, Values
from tapestry.rewrite.analysis import walk
from tapestry.rewrite.stages import Conjunction, Moment, Variant

Covers = Callable[[str, tuple[Range, ...]], bool]


def lower(groups: Sequence[Group], until: int, covers: Covers) -> Statement | None:
    """Return the statement that finds each member's candidates in (its since, its until].

    ``until`` is the greatest of theirs.  One row per filter and message: the least c, with
    the evidence for it.  A variant whose
    slice of its driving table is empty, as ``covers`` tells, is left out; None if all are.
    """
    parts = _Parts()
    for group in groups:
        build = _Builder(parts, group)
        found = (build.variant(variant, until, covers) for variant in group.disjunct.variants)
        parts.found += [select for select in found if select is not None]
    return parts.statement() if parts.found else None


def lower_at(
    groups: Sequence[Group], at: int | None, among: Sequence[tuple[int, str]] | None = None
) -> Statement:
    """Return the statement for Q(at), or for Q(start) of each member where ``at`` is None.

    ``among`` restricts it to pairs of filter and msgid.
    """
    parts = _Parts()
    for group in groups:
        build = _Builder(parts, group)
        instant = build.scope.carried("start") if at is None else exp.convert(at)
        whole = group.disjunct.monotone.conjunction
        parts.found.append(build.held_at(whole, instant, among is not None))
    if among is not None:
        fields = (Field("fid", Type.INTEGER), Field("msgid", Type.TEXT))
        parts.relations.append(Relation("among", fields, tuple(among)))
    return parts.statement()


class _Parts:
    """Collects the SELECTs, CTEs, views and relations of one statement."""

    def __init__(self) -> None:
        self.found: list[exp.Select] = []
        self.ctes: list[tuple[str, exp.Select]] = []
        self.views: dict[tuple[str, tuple[Range, ...] | None], View] = {}
        self.relations: list[Relation] = []

    def name(self, select: exp.Select) -> str:
        """Name a SELECT as a CTE."""
        name = f"r{len(self.ctes)}"
        self.ctes.append((name, select))
        return name

    def view(self, table: str, ranges: tuple[Range, ...] | None) -> str:
        """Return the name of a table, or of its slice."""
        key = (table, ranges)
        if key not in self.views:
            suffix = "" if ranges is None else f"_{len(self.views)}"
            self.views[key] = View(table + suffix, table, ranges)
        return self.views[key].name

    def statement(self) -> Statement:
        """Return the union of what was found, the first candidate of each pair kept."""
        union: exp.Query = self.found[0] if self.found else _nothing()
        for part in self.found[1:]:
            union = exp.union(union, part, distinct=False, copy=False)
        rank = exp.Window(
            this=exp.RowNumber(),
            partition_by=[exp.column("fid"), exp.column("msgid")],
            order=exp.Order(
                expressions=[
                    exp.Ordered(this=exp.column(name), nulls_first=True)
                    for name in ("c", "disjunct", "why", "audience")
                ]
            ),
        )
        ranked = exp.select(*OUTPUT, exp.alias_(rank, "place", copy=False), copy=False).from_(
            union.subquery("found", copy=False), copy=False
        )
        select = exp.select(*OUTPUT).from_(ranked.subquery("ranked", copy=False), copy=False)
        select = select.where(
            exp.EQ(this=exp.column("place"), expression=exp.convert(1)), copy=False
        )
        named = [
            exp.CTE(this=cte, alias=exp.TableAlias(this=exp.to_identifier(name)))
            for name, cte in self.ctes
        ]
        if named:
            select.set("with_", exp.With(expressions=named))
        return Statement(select, list(self.views.values()), self.relations)


def _nothing() -> exp.Select:
    columns = [exp.alias_(exp.null(), name, copy=False) for name in OUTPUT]
    return exp.select(*columns).where(
        exp.EQ(this=exp.convert(1), expression=exp.convert(0)), copy=False
    )


class _Builder:
    """Lowers the disjunct of one group."""

    def __init__(self, parts: _Parts, group: Group) -> None:
        self.parts = parts
        self.members = group.members
        self.message = group.disjunct.message
        self.constants = f"constants_{len(parts.relations)}"
        parts.relations.append(constants(self.constants, group.members))
        self.scope = Scope("k")

    def variant(self, variant: Variant, until: int, covers: Covers) -> exp.Select | None:
        """Return the candidates of one variant that pass their test."""
        names = [binding.var for binding in variant.bindings]
        scope = self.scope.binding(*names)
        c = self._moment(variant.event, scope)
        ranges = slices(self.members, variant.event)
        driver = self._driver(variant)
        if driver is not None and not covers(driver.table, ranges):
            return None
        select = exp.select().from_(exp.to_table(self.constants).as_("k"), copy=False)
        for binding in variant.bindings:
            table = self._table(binding, ranges if binding == driver else None)
            select = select.join(table, join_type="cross", copy=False)
            select = select.where(self._visible(binding, scope), copy=False)
        anchor = variant.event.anchor
        if anchor is not None:
            select = select.where(_within(scope.term(anchor[0]), ranges), copy=False)
        select = select.where(
            *(scope.condition(condition) for condition in variant.plain),
            exp.GT(this=c.copy(), expression=scope.carried("since")),
            exp.LTE(this=c.copy(), expression=scope.carried("until")),
            exp.LTE(this=c.copy(), expression=exp.convert(until)),
            *(
                exp.LTE(this=self._moment(moment, scope), expression=c.copy())
                for moment in variant.before
            ),
            copy=False,
        )
        own = () if variant.test.bindings else variant.evidence
        distinct = set(names) != {self.message.var, *(b.var for b in own)}
        return self._tested(select, scope, c, variant.test, own, distinct)

    def held_at(self, whole: Conjunction, instant: exp.Expr, among: bool) -> exp.Select:
        """Return the messages for which a disjunct holds at the instant."""
        scope = self.scope.binding(self.message.var)
        select = exp.select().from_(exp.to_table(self.constants).as_("k"), copy=False)
        select = select.join(self._table(self.message, None), join_type="cross", copy=False)
        ts = column(self.message.var, "ts")
        select = select.where(
            self._visible(self.message, scope),
            exp.LTE(this=ts, expression=instant.copy()),
            copy=False,
        )
        if among:
            msgid = column(self.message.var, "msgid")
            pairs = exp.select(exp.convert(1), copy=False).from_(
                exp.to_table("among").as_("a"), copy=False
            )
            pairs = pairs.where(
                exp.EQ(this=exp.column("fid", "a"), expression=scope.carried("fid")),
                exp.EQ(this=exp.column("msgid", "a"), expression=msgid),
                copy=False,
            )
            select = select.where(exp.Exists(this=pairs), copy=False)
        return self._tested(select, scope, instant, whole, (), False)

    def _tested(
        self,
        select: exp.Select,
        scope: Scope,
        c: exp.Expr,
        test: Conjunction,
        evidence: tuple[Binding, ...],
        distinct: bool,
    ) -> exp.Select:
        """Return the rows of a candidate SELECT that pass the test at c, in OUTPUT's columns."""
        message = self.message.var
        wanted = {(message, "msgid"), (message, "audience"), (message, "ts")}
        wanted |= free_columns(test) | {(b.var, KEYS[b.table]) for b in evidence}
        first = self._carry(select, scope, wanted, slots(test), c)
        name = self.parts.name(first.distinct(copy=False) if distinct else first)
        shown, own = evidence, Scope(name, now=exp.column("c", name))
        if test.bindings:
            joined = exp.select().from_(exp.to_table(name), copy=False)
            joined = self._join(joined, test, own)
            wanted = {(message, "msgid"), (message, "audience"), (message, "ts")}
            wanted |= free_columns(test.absent) | {(b.var, KEYS[b.table]) for b in test.bindings}
            inner = own.binding(*(b.var for b in test.bindings))
            joined = self._carry(joined, inner, wanted, slots(test.absent), exp.column("c", name))
            name, shown = self.parts.name(joined), test.bindings
            own = Scope(name, now=exp.column("c", name))
            conditions = []
        else:
            conditions = [own.condition(c) for c in (*test.plain, *test.times)]
        conditions += [self._absent(part, own) for part in test.absent]
        keys = [own.carried(carried_name(b.var, KEYS[b.table])) for b in shown]
        why = exp.Anonymous(this="concat_ws", expressions=[exp.convert(SEPARATOR), *keys])
        final = exp.select(
            own.carried("fid"),
            exp.alias_(own.carried(carried_name(message, "msgid")), "msgid", copy=False),
            exp.alias_(own.carried(carried_name(message, "audience")), "audience", copy=False),
            exp.alias_(own.carried(carried_name(message, "ts")), "ts", copy=False),
            own.carried("c"),
            own.carried("disjunct"),
            exp.alias_(why if keys else exp.convert(""), "why", copy=False),
            copy=False,
        ).from_(exp.to_table(name), copy=False)
        return final.where(*conditions, copy=False) if conditions else final

    def _absent(self, part: Conjunction, outer: Scope) -> exp.Expr:
        """Return NOT EXISTS of a conjunction for a relation of candidates."""
        if not part.absent:
            inner = self._join(exp.select(exp.convert(1), copy=False), part, outer)
            return exp.not_(exp.Exists(this=inner), copy=False)
        free = free_columns(part)
        rows = self._join(exp.select().from_(exp.to_table(outer.outer), copy=False), part, outer)
        wanted = free | free_columns(part.absent)
        scope = outer.binding(*(b.var for b in part.bindings))
        rows = self._carry(rows, scope, wanted, slots(part.absent), exp.column("c", outer.outer))
        name = self.parts.name(rows.distinct(copy=False))
        held = Scope(name, now=exp.column("c", name))
        keys = ["fid", "disjunct", "c", *sorted(carried_name(*column) for column in free)]
        left = exp.select(*(exp.column(key, name) for key in keys), copy=False).distinct(copy=False)
        left = left.from_(exp.to_table(name), copy=False)
        left = left.where(*(self._absent(inner, held) for inner in part.absent), copy=False)
        rest = self.parts.name(left)
        same = [
            exp.NullSafeEQ(this=exp.column(key, rest), expression=outer.carried(key))
            for key in keys
        ]
        return exp.not_(
            exp.Exists(
                this=exp.select(exp.convert(1), copy=False)
                .from_(exp.to_table(rest), copy=False)
                .where(*same, copy=False)
            ),
            copy=False,
        )

    def _join(self, select: exp.Select, part: Conjunction, outer: Scope) -> exp.Select:
        """Add a conjunction's tables and its own conditions, at the outer relation's c."""
        scope = outer.binding(*(b.var for b in part.bindings))
        for binding in part.bindings:
            table = self._table(binding, None)
            if select.args.get("from_"):
                select = select.join(table, join_type="cross", copy=False)
            else:
                select = select.from_(table, copy=False)
            ts = column(binding.var, "ts")
            visible_at = exp.LTE(this=ts, expression=scope.term(Now()))
            select = select.where(self._visible(binding, scope), visible_at, copy=False)
        conditions = [scope.condition(c) for c in (*part.plain, *part.times)]
        return select.where(*conditions, copy=False) if conditions else select

    def _carry(
        self,
        select: exp.Select,
        scope: Scope,
        columns: set[tuple[str, str]],
        parameters: set[int],
        c: exp.Expr,
    ) -> exp.Select:
        carried = [scope.carried(name) for name in ("fid", "disjunct", "audiences")]
        carried += [scope.carried(f"p{slot}") for slot in sorted(parameters)]
        for var, name in sorted(columns):
            column = scope.term(Column(var, name))
            carried.append(exp.alias_(column, carried_name(var, name), quoted=True, copy=False))
        return select.select(*carried, exp.alias_(c.copy(), "c", copy=False), copy=False)

    def _table(self, binding: Binding, ranges: tuple[Range, ...] | None) -> exp.Expr:
        name = self.parts.view(binding.table, ranges)
        return exp.to_table(name).as_(alias(binding.var), quoted=True)

    def _visible(self, binding: Binding, scope: Scope) -> exp.Expr:
        audience = column(binding.var, "audience")
        return exp.Anonymous(this="visible", expressions=[scope.carried("audiences"), audience])

    def _moment(self, moment: Moment, scope: Scope) -> exp.Expr:
        term = scope.term(moment.term)
        if not moment.shift:
            return term
        return exp.paren(exp.Add(this=term, expression=exp.convert(moment.shift)), copy=False)

    def _driver(self, variant: Variant) -> Binding | None:
        """Return the binding whose ``ts`` alone decides whether the event is in the window."""
        anchor = variant.event.anchor
        if anchor is None or anchor[0].name != "ts":
            return None
        return next(b for b in variant.bindings if b.var == anchor[0].var)


def _within(column: exp.Expr, ranges: tuple[Range, ...]) -> exp.Expr:
    return exp.paren(
        exp.or_(
            *(
                exp.and_(
                    exp.GT(this=column.copy(), expression=exp.convert(low)),
                    exp.LTE(this=column.copy(), expression=exp.convert(high)),
                    copy=False,
                )
                for low, high in ranges
            ),
            copy=False,
        ),
        copy=False,
    )


def free_columns(part: Conjunction | tuple[Conjunction, ...]) -> set[tuple[str, str]]:
    """Return the (variable, column) pairs a conjunction reads and does not itself bind."""
    if isinstance(part, tuple):
        return {column for one in part for column in free_columns(one)}
    own = {binding.var for binding in part.bindings}
    read = {(n.var, n.name) for n in walk((part.plain, part.times)) if isinstance(n, Column)}
    read |= free_columns(part.absent)
    return {(var, name) for var, name in read if var not in own}


def slots(part: object) -> set[int]:
    """Return the slots of the constants a tree reads."""
    return {
        node.slot
        for node in walk(part)
        if isinstance(node, Literal | Values) and node.slot is not None
    }
