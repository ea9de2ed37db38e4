"""From which view each variable is read: the table, its slice, or a key lookup from a slice.

This is an index nested-loop join: a few new rows are joined with few old ones, those that have
one of their keys.  Where an equality of a conjunction ties a variable to one that is read from
a slice, the view says so, and an engine looks the rows up instead of scanning the table.  Law:
the statement holds the equality itself, so it answers the same whether an engine does so or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from tapestry.core.schema import INDEXED, Type
from tapestry.plan import sql
from tapestry.plan.group import ConstantRow
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.nearness import before, near
from tapestry.plan.lowering.scope import Scope, table_alias, table_column
from tapestry.plan.lowering.set_join import SetTie, element, set_ties, unnested
from tapestry.plan.relation import KeyLookup, Range, View
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import conjuncts, equalities


class BoundViews:
    """The views of the variables that are bound, in what is being lowered.

    ``constants`` names the relation of the constant rows, if the statement has it.
    """

    constants: str | None = None

    def __init__(self, assembly: Assembly, constant_rows: Sequence[ConstantRow]) -> None:
        self.assembly = assembly
        self.constant_rows = constant_rows
        self._views: dict[str, tuple[View, ...]] = {}
        self._unnested: dict[str, SetTie] = {}

    def clear(self) -> None:
        """Forget all variables: another SELECT of candidates begins."""
        self._views, self._unnested = {}, {}

    def views(self) -> dict[str, tuple[View, ...]]:
        """Return the views of each variable that is bound by now."""
        return dict(self._views)

    def bind_to_any(self, bound: Sequence[Mapping[str, tuple[View, ...]]]) -> None:
        """Let the rows of variables be those of one of several SELECTs, of which these are views.

        Variables that are not bound by all of them are bound no more.
        """
        self.clear()
        for var in set.intersection(*map(set, bound)):
            self._views[var] = tuple(dict.fromkeys(view for views in bound for view in views[var]))

    def binds(self, binding: n.Binding) -> bool:
        """Tell whether a variable is bound by now."""
        return binding.var in self._views

    def bind(
        self,
        binding: n.Binding,
        ranges: tuple[Range, ...] | None,
        lookup: KeyLookup | None,
        by: str = "ts",
    ) -> exp.Expr:
        """Return the table of a variable: a slice of it, a key lookup, or all of it."""
        view = self.assembly.view(binding.table, ranges, lookup, by)
        self._views[binding.var] = (view,)
        if binding.var in self._unnested:
            rows = unnested(view.name, self._unnested[binding.var][0].name)
            return sql.subquery(rows, table_alias(binding.var))
        return sql.table(view.name, table_alias(binding.var), quoted=True)

    def set_joins(self, bindings: Sequence[n.Binding], scope: Scope) -> list[exp.Expr]:
        """Return the equalities that join variables by the elements of their sets."""
        ties = (self._unnested.get(binding.var) for binding in bindings)
        return [
            sql.eq(table_column(column.var, element(column.name)), scope.term(other))
            for column, other in (tie for tie in ties if tie is not None)
        ]

    def tables(
        self,
        bindings: Sequence[n.Binding],
        plain: Sequence[n.Condition],
        driver: n.Binding | None = None,
        ranges: tuple[Range, ...] | None = None,
        lookup: KeyLookup | None = None,
        by: str = "ts",
        deciding: Sequence[n.Condition] = (),
    ) -> list[exp.Expr]:
        """Return the tables of variables that are bound together.

        Of the driver it is its slice ``by`` a column, or what a key lookup finds.  ``deciding`` is
        all that is asked of the variables where one row that meets it is enough.

        Their SELECT must have the ``set_joins`` of the variables among its conditions.
        """
        for binding in bindings:
            self._views.pop(binding.var, None)
            self._unnested.pop(binding.var, None)
        variables = {binding.var for binding in bindings}
        self._unnested |= {tie[0].var: tie for tie in set_ties(plain) if tie[0].var in variables}
        tables: dict[str, exp.Expr] = {}
        waiting = list(bindings)
        if driver is not None:
            tables[driver.var] = self.bind(driver, ranges, lookup, by)
            waiting.remove(driver)
        while waiting:
            tied = [
                pair for binding in waiting for pair in self._key_lookups(binding, plain, deciding)
            ]
            if not tied:
                tied = [pair for by in waiting for pair in self._constant_lookups(by, plain)]
            binding, lookup = min(tied, key=_rows_of_a_key, default=(waiting[0], None))
            tables[binding.var] = self.bind(binding, None, lookup)
            waiting.remove(binding)
        return [tables[binding.var] for binding in bindings]

    def _key_lookups(
        self,
        binding: n.Binding,
        plain: Sequence[n.Condition],
        deciding: Sequence[n.Condition],
    ) -> Iterator[tuple[n.Binding, KeyLookup]]:
        """Yield the lookups that can find the rows of a variable."""
        pairs = list(equalities(plain))
        pairs += [(there, here) for here, there in pairs if there.type is Type.SET]
        for here, there in pairs:
            if here.var != binding.var or here.name not in INDEXED[binding.table]:
                continue
            sources = self._views.get(there.var, ())
            if sources and all(map(_is_limited, sources)):
                names = tuple(view.name for view in sources)
                source = n.Binding(there.var, sources[0].table)
                close = near(plain, binding, source, self.constant_rows)
                early = before(deciding, binding, source, here)
                yield binding, KeyLookup(here.name, names, there.name, close, early)

    def _constant_lookups(
        self, binding: n.Binding, plain: Sequence[n.Condition]
    ) -> Iterator[tuple[n.Binding, KeyLookup]]:
        """Yield the lookups of a variable's rows by the constants of the filters."""
        for test in (test for condition in plain for test in conjuncts(condition)):
            match test:
                case n.Compare("=", n.Column(var, name), n.Literal(slot=int(slot))) if (
                    self.constants and var == binding.var and name in INDEXED[binding.table]
                ):
                    yield binding, KeyLookup(name, (self.constants,), f"p{slot}")


def _rows_of_a_key(tied: tuple[n.Binding, KeyLookup]) -> int:
    """Return a number that is lower the fewer rows have one key of a lookup's column.

    One message has a msgid, some reply to it or are in its thread; ever more are by its sender.
    """
    binding, lookup = tied
    return INDEXED[binding.table].index(lookup.column)


def _is_limited(view: View) -> bool:
    return view.ranges is not None or view.key_lookup is not None
