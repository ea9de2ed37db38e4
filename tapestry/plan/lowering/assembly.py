"""Put the SELECTs of many disjuncts together in one statement, each common subexpression once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from tapestry.plan import sql
from tapestry.plan.relation import OUTPUT, Derived, KeyLookup, Range, Relation, Statement, View


class Assembly:
    """Collects the SELECTs, CTEs, views and relations of one statement.

    ``spans`` says between which instants, first and last, it asks anything of a filter.
    """

    def __init__(self, spans: Mapping[int, Range]) -> None:
        self.spans = spans
        self.selects: list[exp.Select] = []
        self.relations: list[Relation] = []
        self.derived: list[Derived] = []
        self._ctes: list[tuple[str, exp.Query]] = []
        self._views: dict[tuple[object, ...], View] = {}

    @property
    def is_of_one_instant(self) -> bool:
        """Tell whether each filter is asked at one instant: then nothing is kept running."""
        return all(first == last for first, last in self.spans.values())

    def name(self, query: exp.Query) -> str:
        """Make a query a CTE (a WITH query), and return its name."""
        name = f"r{len(self._ctes)}"
        self._ctes.append((name, query))
        return name

    def view(
        self,
        table: str,
        ranges: tuple[Range, ...] | None,
        lookup: KeyLookup | None = None,
        by: str = "ts",
    ) -> View:
        """Return the view of a table, of a slice ``by`` its column, or of a key lookup in it."""
        key = (table, ranges, lookup, by)
        if key not in self._views:
            everything = ranges is None and lookup is None
            suffix = "" if everything else f"_{len(self._views)}"
            self._views[key] = View(table + suffix, table, ranges, lookup, by)
        return self._views[key]

    def first_matches(self, *extra_key: str) -> Statement:
        """Return the union of the SELECTs, the first row of each filter and message kept.

        With a column in ``extra_key``, the first for each of its values.
        """
        union = sql.union(self.selects or [_no_rows()])
        key, order = ("filter_id", "msgid", *extra_key), ("c", "disjunct", "evidence", "audience")
        place = row_number(key, order)
        numbered = (*map(sql.column, OUTPUT), sql.alias(place, "place"))
        ranked = sql.select(*numbered, source=sql.subquery(union, "found"))
        first = sql.select(*map(sql.column, OUTPUT), source=sql.subquery(ranked, "ranked"))
        return self.statement(sql.where(first, sql.eq(sql.column("place"), sql.literal(1))))

    def part(self, select: exp.Query) -> Statement:
        """Return the statement of a SELECT and of what it reads alone; it is evaluated before."""
        read, queries = _tables(select), dict(self._ctes)
        waiting = list(read)
        while waiting:
            name = waiting.pop()
            more = _tables(queries[name]) if name in queries else set()
            for view in self._views.values():
                if view.name == name and view.key_lookup:
                    more |= set(view.key_lookup.sources)
            waiting += more - read
            read |= more
        part = Assembly(self.spans)
        part._ctes = [(name, query.copy()) for name, query in self._ctes if name in read]
        part._views = {key: view for key, view in self._views.items() if view.name in read}
        part.relations = [relation for relation in self.relations if relation.name in read]
        part.derived = [derived for derived in self.derived if derived.name in read]
        return part.statement(select)

    def statement(self, select: exp.Query) -> Statement:
        """Return the statement of a SELECT and all that it reads."""
        ctes = [
            exp.CTE(this=query, alias=exp.TableAlias(this=exp.to_identifier(name)))
            for name, query in self._ctes
        ]
        if ctes:
            select.set("with_", exp.With(expressions=ctes))
        return Statement(select, list(self._views.values()), self.relations, self.derived)


def row_number(
    partition: Sequence[str], order: Sequence[str], descending: str | None = None
) -> exp.Expr:
    """Return the number of a row among those alike in some columns, by the order of others."""
    columns = (sql.ordered(name, descending=name == descending) for name in order)
    return sql.window(exp.RowNumber(), partition, *columns)


def smallest_select() -> exp.Select:
    """Return a SELECT of a row that no filter has, in OUTPUT's columns."""
    row = (0, "", "", 0, 0, 0, "")
    columns = zip(row, OUTPUT, strict=True)
    return sql.select(*(sql.alias(sql.literal(value), name) for value, name in columns))


def _tables(query: exp.Query) -> set[str]:
    return {table.name for table in query.find_all(exp.Table)}


def _no_rows() -> exp.Select:
    columns = [sql.alias(sql.literal(None), name) for name in OUTPUT]
    return sql.where(sql.select(*columns), sql.eq(sql.literal(1), sql.literal(0)))
