"""A checked tree back to text: TQL in the short form, or SQL.

The law: reading what is printed gives an equal condition.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tapestry.core.clock import SECOND, UNITS, to_datetime
from tapestry.core.schema import MESSAGES, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RESERVED, SHARES, FreshNames, is_definition
from tapestry.query.tree.parsed import MESSAGE
from tapestry.query.tree.walk import columns_of, walk

OR, AND, NOT = range(3)


def print_tql(query: n.CheckedQuery) -> str:
    """Return a filter as a condition on its message, in canonical TQL."""
    return print_condition(query.condition)


def print_condition(condition: n.Condition) -> str:
    """Return a checked condition in canonical TQL, with no parenthesis too many."""
    return _Printer(sql=False).condition(condition)


def print_term(term: n.Term) -> str:
    """Return a checked term in canonical TQL."""
    return _Printer(sql=False).term(term)


def print_sql(query: n.CheckedQuery) -> str:
    """Return a filter in the long form."""
    printer = _Printer(sql=True)
    where = printer.where(query.condition)
    return f"SELECT {query.var}.msgid FROM {MESSAGES} {query.var}{where}"


def print_duration(microseconds: int) -> tuple[str, str]:
    """Return a duration as an amount and its largest whole unit.

    >>> from tapestry.core.clock import DAY, MINUTE
    >>> print_duration(14 * DAY), print_duration(90 * MINUTE), print_duration(SECOND // 2)
    (('2', 'weeks'), ('90', 'minutes'), ('0.5', 'seconds'))
    """
    size = abs(microseconds)
    length, unit = next(
        ((length, unit) for unit, length in UNITS.items() if size and size % length == 0),
        (SECOND, "second"),
    )
    whole, rest = divmod(size, length)
    amount = f"{whole}.{rest:06d}".rstrip("0") if rest else str(whole)
    sign = "-" if microseconds < 0 else ""
    return sign + amount, unit if size == length else unit + "s"


def quote(text: str) -> str:
    """Return a text literal."""
    return "'" + text.replace("'", "''") + "'"


def _name(text: str) -> str:
    """Return the name of a filter or its owner, in double quotes where it needs them."""
    if text.isidentifier() and text.upper() not in RESERVED:
        return text
    return '"' + text.replace('"', '""') + '"'


def _in_table(binding: n.Binding) -> str:
    return "" if binding.table == MESSAGES else f" IN {binding.table}"


def _mentions(node: object, names: set[str]) -> bool:
    """Return whether a variable of these names stands anywhere in a tree."""
    naming = (n.Column, n.Binding, n.InFilter)
    return any(isinstance(part, naming) and part.var in names for part in walk(node))


@dataclass(frozen=True, slots=True)
class _Printer:
    """Prints one tree, from left to right.

    ``names`` are those that the variables met so far have, ``shown`` what those are called
    that TQL calls otherwise: inside a TOP, what is ranked is called as what is tested.
    """

    sql: bool
    names: FreshNames = field(default_factory=lambda: FreshNames({MESSAGE}))
    shown: dict[str, str] = field(default_factory=dict)

    def condition(self, node: n.Condition, within: int = OR) -> str:
        """Print a condition that stands in an operator of precedence ``within``."""
        match node:
            case n.Or():
                return self._join(node.args, " OR ", OR, within)
            case n.And():
                return self._join(node.args, " AND ", AND, within)
            case n.Not():
                text = self._negated(node.arg)
                return f"({text})" if within > NOT else text
            case n.Truth():
                return "TRUE" if node.value else "FALSE"
            case _:
                return self._test(node, "")

    def _join(self, args: tuple[n.Condition, ...], word: str, power: int, within: int) -> str:
        text = word.join([self.condition(arg, power + 1) for arg in args])
        return f"({text})" if within > power else text

    def _negated(self, arg: n.Condition) -> str:
        match arg:
            case n.And() | n.Or() | n.Not() | n.Truth() | n.Compare() | n.Threshold():
                return "NOT " + self.condition(arg, NOT)
            case n.InFilter(unknown=bool()):
                return "NOT " + self._test(arg, "")
            case _:
                return self._test(arg, "NOT ")

    def _test(self, node: n.Condition, negated: str) -> str:
        match node:
            case n.Compare():
                return f"{self.term(node.left)} {node.op} {self.term(node.right)}"
            case n.Like():
                return f"{self.term(node.term)} {negated}LIKE {self.term(node.pattern)}"
            case n.Has() if self.sql:
                return f"{negated}has({self.term(node.term)}, {self.term(node.words)})"
            case n.Has():
                return f"{self.term(node.term)} {negated}HAS {self.term(node.words)}"
            case n.IsNull():
                return f"{self.term(node.term)} IS {negated}NULL"
            case n.InList():
                return f"{self.term(node.term)} {negated}IN ({self._values(node.values)})"
            case n.InQuery():
                select = self._select(self.term(node.value), node.bindings, node.condition)
                return f"{self.term(node.term)} {negated}IN ({select})"
            case n.InFilter():
                owner = f"{_name(node.owner)}." if node.owner else ""
                known = {None: "", False: " IS TRUE", True: " IS NOT FALSE"}[node.unknown]
                return f"{self._called(node.var)} {negated}IN {owner}{_name(node.name)}{known}"
            case n.Exists():
                return f"{negated}EXISTS ({self._inside(node)})"
            case n.Threshold():
                return f"{self._aggregate(node.aggregate)} {node.op} {self.term(node.constant)}"
            case n.Top() if self.sql:
                return f"{self.term(node.message)} {negated}IN ({self._ranking(node)})"
            case n.Top():
                return self._top(node, negated)
            case _:
                raise TypeError(f"no checked condition: {node!r}")

    def _inside(self, node: n.Exists) -> str:
        if self.sql:
            return self._select("*", node.bindings, node.condition)
        return f"{self._variables(node.bindings)}: {self.condition(node.condition)}"

    def _variables(self, bindings: tuple[n.Binding, ...]) -> str:
        self.names.used.update([binding.var for binding in bindings])
        return ", ".join([binding.var + _in_table(binding) for binding in bindings])

    def _aggregate(self, node: n.Aggregate) -> str:
        if isinstance(node.term, n.Fold):
            args = ", ".join([self.term(arg) for arg in node.term.args])
            rows = f"{self._variables(node.bindings)}: {self.condition(node.condition)}"
            definition = node.term.definition
            if is_definition(definition):
                return f"{definition} OF ({args}, {rows})"
            owner, _, name = definition.rpartition(".")
            return f"{_name(owner)}.{name}({args}, {rows})" if owner else f"{name}({args}, {rows})"
        of = self.term(node.term) if node.term else "*" if self.sql and not node.among else ""
        of = f"DISTINCT {of}" if node.distinct else of
        if self.sql and not node.among:
            select = self._select(f"{node.function}({of})", node.bindings, node.condition)
            return f"({select})"
        among = node.among
        rows = self._last(node, among.limit, of) if among and among.limit else self._of(node, of)
        if among and among.tiles:
            rows = f"{self.term(among.tiles)}, {rows}"
        tests = self.condition(node.condition)
        if among and (among.test != n.Truth(True) or node.function in SHARES):
            rows, tests = f"{rows} AMONG {tests}", self.condition(among.test)
        return f"{node.function}({rows}: {tests})"

    def _of(self, node: n.Aggregate, of: str) -> str:
        first, *others = node.bindings
        if node.term and {column.var for column in columns_of(node.term)} == {first.var}:
            of += _in_table(first)
            others_ = self._variables(tuple(others))
            self.names.used.add(first.var)
        else:
            others_ = self._variables(node.bindings)
        return ", ".join(filter(None, (of, others_)))

    def _last(self, node: n.Aggregate, limit: n.Literal, of: str) -> str:
        (row,) = node.bindings
        self.names.used.add(row.var)
        table = f" {row.table}" if row.table != MESSAGES else ""
        return f"{of or row.var} IN LAST {self.term(limit)}{table}"

    def _top(self, node: n.Top, negated: str) -> str:
        """Print a top-k; what is ranked is called as what is tested if it reads back so."""
        called = self._called(node.message.var)
        text = f"{called} {negated}IN TOP {self.term(node.limit)}"
        inside = (node.aggregate, node.condition)
        same = self.names.unused(called) == node.binding.var
        if same and not _mentions(inside, {called, node.message.var}):
            self.shown[node.binding.var] = called
        else:
            text += f" {node.binding.var}"
        self.names.used.add(node.binding.var)
        text += f" BY {self._aggregate(node.aggregate)}"
        if node.condition == n.Truth(True):
            return text
        return f"{text} AMONG {self.condition(node.condition, NOT)}"

    def _ranking(self, node: n.Top) -> str:
        key = f"{node.binding.var}.{node.message.name}"
        select = self._select(key, (node.binding,), node.condition)
        order = self._aggregate(node.aggregate)
        return f"{select} ORDER BY {order} DESC, {key} LIMIT {self.term(node.limit)}"

    def _select(self, what: str, bindings: tuple[n.Binding, ...], condition: n.Condition) -> str:
        tables = ", ".join(
            binding.table if binding.table == binding.var else f"{binding.table} {binding.var}"
            for binding in bindings
        )
        return f"SELECT {what} FROM {tables}{self.where(condition)}"

    def _called(self, var: str) -> str:
        return self.shown.get(var, var)

    def where(self, condition: n.Condition) -> str:
        return "" if condition == n.Truth(True) else f" WHERE {self.condition(condition)}"

    def term(self, node: n.Term, right_of: str = "") -> str:
        """Print a term; ``right_of`` is the operator on its left, if one is."""
        match node:
            case n.Column():
                var = self._called(node.var)
                return f"{var}.{node.name}" if var else node.name
            case n.Literal():
                return self._literal(node.value, node.type)
            case n.Now():
                return "now()"
            case n.Call():
                return f"{node.name}({', '.join([self.term(arg) for arg in node.args])})"
            case n.Reached():
                return f"reached({self.term(node.term)})"
            case n.Arith():
                return self._arith(node, right_of)
            case n.Case():
                when = f"CASE WHEN {self.condition(node.condition)} THEN {self.term(node.value)}"
                return f"{when} ELSE {self.term(node.otherwise)} END"
            case n.Over() | n.Fold():
                raise TypeError(f"no checked term: {node!r}")

    def _arith(self, node: n.Arith, right_of: str) -> str:
        left = self.term(node.left)
        if node.op in "*/" and isinstance(node.left, n.Arith) and node.left.op in "+-":
            left = f"({left})"
        text = f"{left} {node.op} {self.term(node.right, node.op)}"
        return f"({text})" if right_of else text

    def _values(self, values: n.Values) -> str:
        return ", ".join([self._literal(value, values.type) for value in values.values])

    def _literal(self, value: str | int | float | None, kind: Type) -> str:
        match kind, value:
            case _, None:
                return "NULL"
            case Type.INSTANT, int():
                moment = to_datetime(value).replace(tzinfo=None)
                return f"TIMESTAMP '{moment.isoformat(' ')}'"
            case Type.DURATION, int():
                amount, unit = print_duration(value)
                if self.sql:
                    return f"INTERVAL '{amount}' {unit.upper().removesuffix('S')}"
                return f"{amount} {unit}"
            case Type.NUMBER, _:
                return repr(float(value))
            case Type.NULL, str():
                return value  # the name of a parameter
            case _:
                return quote(value) if isinstance(value, str) else str(value)
