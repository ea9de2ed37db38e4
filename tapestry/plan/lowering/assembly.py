"""Put the SELECTs of many disjuncts together in one statement."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from tapestry.plan.relation import OUTPUT, Derived, KeyLookup, Range, Relation, Statement, View


class Assembly:
    """Collects the SELECTs, CTEs, views and relations of one statement.

    ``spans`` says between which instants, first and last, it asks anything of a filter.
    """

    def __init__(self, spans: Mapping[int, Range]) -> None:
        self.spans = spans
        self.found: list[exp.Select] = []
        self.relations: list[Relation] = []
        self.derived: list[Derived] = []
        self._ctes: list[tuple[str, exp.Query]] = []
        self._views: dict[tuple[object, ...], View] = {}

    def name(self, query: exp.Query) -> str:
        """Name a query as a CTE."""
        name = f"r{len(self._ctes)}"
        self._ctes.append((name, query))
        return name

    def view(
        self, table: str, ranges: tuple[Range, ...] | None, key_lookup: KeyLookup | None = None
    ) -> View:
        """Return the view of a table, of its slice, or of what a key lookup finds in it."""
        key = (table, ranges, key_lookup)
        if key not in self._views:
            whole = ranges is None and key_lookup is None
            suffix = "" if whole else f"_{len(self._views)}"
            self._views[key] = View(table + suffix, table, ranges, key_lookup)
        return self._views[key]

    def statement(self, *also: str) -> Statement:
        """Return the union of what was found, the first row of each filter and message kept.

        With a column in ``also``, the first for each of its values.
        """
        union: exp.Query = self.found[0] if self.found else _nothing()
        for part in self.found[1:]:
            union = exp.union(union, part, distinct=False, copy=False)
        ranked = exp.select(
            *OUTPUT,
            exp.alias_(
                first(("filter_id", "msgid", *also), ("c", "disjunct", "evidence", "audience")),
                "place",
                copy=False,
            ),
            copy=False,
        ).from_(union.subquery("found", copy=False), copy=False)
        select = exp.select(*OUTPUT).from_(ranked.subquery("ranked", copy=False), copy=False)
        select = select.where(
            exp.EQ(this=exp.column("place"), expression=exp.convert(1)), copy=False
        )
        return self.whole(select)

    def whole(self, select: exp.Query) -> Statement:
        """Return the statement of a SELECT and all that it reads."""
        named = [
            exp.CTE(this=cte, alias=exp.TableAlias(this=exp.to_identifier(name)))
            for name, cte in self._ctes
        ]
        if named:
            select.set("with_", exp.With(expressions=named))
        return Statement(select, list(self._views.values()), self.relations, self.derived)


def first(partition: tuple[str, ...], order: tuple[str, ...], descending: str = "") -> exp.Window:
    """Return the place of a row among those alike in some columns, by the order of others."""
    return exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column(name) for name in partition],
        order=exp.Order(
            expressions=[
                exp.Ordered(
                    this=exp.column(name), desc=name == descending or None, nulls_first=True
                )
                for name in order
            ]
        ),
    )


def _nothing() -> exp.Select:
    columns = [exp.alias_(exp.null(), name, copy=False) for name in OUTPUT]
    return exp.select(*columns).where(
        exp.EQ(this=exp.convert(1), expression=exp.convert(0)), copy=False
    )
