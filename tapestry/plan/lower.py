"""Lower disjuncts to one SQL statement, each for all members of its group.

Spark refuses a correlated subquery that reaches over a level, so quantifiers become joins:
what a variant is driven by gives candidates, a relation ``(filter, disjunct, c, columns …)``,
and ``nested`` lowers what is asked of other rows to joins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from tapestry.core.schema import KEYS, Type
from tapestry.plan.assembly import Assembly
from tapestry.plan.group import Group, constants, slices
from tapestry.plan.nested import Nested, free_columns, slots
from tapestry.plan.relation import SEPARATOR, Field, Range, Relation, Statement
from tapestry.plan.scope import Scope, carried_name, column
from tapestry.query.nodes import Binding
from tapestry.rewrite.stages import Conjunction, Moment, Variant

Covers = Callable[[str, tuple[Range, ...]], bool]


def lower(groups: Sequence[Group], until: int, covers: Covers) -> Statement | None:
    """Return the statement that finds each member's candidates in (its since, its until].

    ``until`` is the greatest of theirs.  One row per filter and message: the least c, with
    the evidence for it.  A variant whose slice of its driving table is empty, as ``covers``
    tells, is left out; None if all are.
    """
    assembly = Assembly()
    for group in groups:
        build = _Builder(assembly, group)
        found = (build.variant(variant, until, covers) for variant in group.disjunct.variants)
        assembly.found += [select for select in found if select is not None]
    return assembly.statement() if assembly.found else None


def lower_at(
    groups: Sequence[Group], at: int | None, among: Sequence[tuple[int, str]] | None = None
) -> Statement:
    """Return the statement for Q(at), or for Q(start) of each member where ``at`` is None.

    ``among`` restricts it to pairs of filter and msgid.
    """
    assembly = Assembly()
    for group in groups:
        build = _Builder(assembly, group)
        instant = build.scope.carried("start") if at is None else exp.convert(at)
        whole = group.disjunct.monotone.conjunction
        assembly.found.append(build.held_at(whole, instant, among is not None))
    if among is not None:
        fields = (Field("fid", Type.INTEGER), Field("msgid", Type.TEXT))
        assembly.relations.append(Relation("among", fields, tuple(among)))
    return assembly.statement()


class _Builder:
    """Lowers the disjunct of one group."""

    def __init__(self, assembly: Assembly, group: Group) -> None:
        self.assembly = assembly
        self.members = group.members
        self.message = group.disjunct.message
        self.nested = Nested(assembly, group.members)
        self.constants = f"constants_{len(assembly.relations)}"
        assembly.relations.append(constants(self.constants, group.members))
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
            table = self.nested.table(binding, ranges if binding == driver else None)
            select = select.join(table, join_type="cross", copy=False)
            select = select.where(self.nested.visible(binding, scope), copy=False)
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
        select = select.join(self.nested.table(self.message, None), join_type="cross", copy=False)
        ts = column(self.message.var, "ts")
        select = select.where(
            self.nested.visible(self.message, scope),
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
        shows = {(message, "msgid"), (message, "audience"), (message, "ts")}
        bound = {binding.var for binding in test.bindings}
        wanted = free_columns((test,)) | {(b.var, KEYS[b.table]) for b in evidence}
        if message not in bound:
            wanted |= shows
        first = self.nested.carry(select, scope, wanted, slots(test), c)
        name = self.assembly.name(first.distinct(copy=False) if distinct else first)
        shown, own = evidence, Scope(name, now=exp.column("c", name))
        conditions: list[exp.Expr] = []
        if test.bindings:
            joined = exp.select().from_(exp.to_table(name), copy=False)
            joined = self.nested.join(joined, test, own)
            wanted = shows | free_columns(test.nested)
            wanted |= {(b.var, KEYS[b.table]) for b in test.bindings}
            inner = own.binding(*bound)
            joined = self.nested.carry(
                joined, inner, wanted, slots(test.nested), exp.column("c", name)
            )
            name, shown = self.assembly.name(joined), test.bindings
            own = Scope(name, now=exp.column("c", name))
        else:
            conditions += [own.condition(c) for c in (*test.plain, *test.times)]
        conditions += self.nested.conditions(test, own)
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
