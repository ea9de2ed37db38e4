"""A checked condition in canonical form: conditions that mean the same look the same.

Law: ``canonicalize`` keeps the rows for which a condition is true.  It is neither printed nor run:
it is for telling whether two conditions mean the same, and what a condition says.

What may become what depends on where it stands.  Where only truth counts (not under a NOT,
and anywhere directly inside an EXISTS, which itself is true or false), unknown may become
false; elsewhere it must stay.
"""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.schema import BOUNDED, KEY_COLUMN, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.linear import add, linear
from tapestry.query.tree.parsed import MESSAGE
from tapestry.query.tree.walk import FLIPPED, conjuncts, type_of, variables, walk

LONGEST_LIST = 5
"""Values of an IN that are written out as alternatives."""

Depths = dict[str, tuple[int, str, int]]
"""Depth of binding, table and place among its like, by variable in scope."""


def canonicalize(condition: n.Condition) -> n.Condition:
    """Return a condition on ``m`` that is true of the same messages, in canonical form.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.tree.printer import print_condition
    >>> from tapestry.query.frontend import read
    >>> def show(text): return print_condition(canonicalize(read(text, Context()).condition))
    >>> show("now() - m.ts > 14 days AND 5 < m.size")
    'm.ts < now() - 2 weeks AND m.size > 5'
    >>> show("m.msgid IN (SELECT r.inreplyto FROM messages r WHERE m.size > 5)")
    'm.size > 5 AND EXISTS (r: r.inreplyto = m.msgid)'
    """
    return _canonicalize(condition, {MESSAGE: (0, "messages", 0)}, exact=False)


def _canonicalize(node: n.Condition, depths: Depths, *, exact: bool) -> n.Condition:
    match node:
        case n.And():
            return n.And.of([_canonicalize(arg, depths, exact=exact) for arg in node.args])
        case n.Or():
            return n.Or.of([_canonicalize(arg, depths, exact=exact) for arg in node.args])
        case n.Not():
            inner = _canonicalize(node.arg, depths, exact=True)
            written = isinstance(node.arg, n.Not)
            return inner.arg if isinstance(inner, n.Not) and not written else n.Not(inner)
        case n.Exists():
            return _exists(node, depths, exact=exact)
        case n.InQuery():
            exists = _as_exists(node, exact=exact)
            if exists is not None:
                return _exists(exists, depths, exact=exact)
            inside = _inside(node.bindings, depths)
            return replace(node, condition=_canonicalize(node.condition, inside, exact=False))
        case n.InList(term, values) if len(values.values) <= LONGEST_LIST:
            tests = [n.Compare("=", term, n.Literal(value, values.type)) for value in values.values]
            return n.Or.of(list[n.Condition](tests))
        case n.Compare():
            return _compare(node, depths)
        case n.Threshold():
            return _threshold(node, depths, exact=exact)
        case n.Top():
            inside = _inside((node.binding,), depths)
            condition = _canonicalize(node.condition, inside, exact=False)
            return replace(node, aggregate=_rows(node.aggregate, inside), condition=condition)
        case _:
            return node


def _inside(bindings: tuple[n.Binding, ...], depths: Depths) -> Depths:
    depth = 1 + max(depth for depth, _, _ in depths.values())
    bound = {b.var: (depth, b.table, place) for place, b in enumerate(bindings)}
    return depths | bound


# EXISTS


def _as_exists(node: n.InQuery, *, exact: bool) -> n.Exists | None:
    """Return the EXISTS that an IN (SELECT …) is, if it is one here.

    It is where only truth counts; elsewhere if neither side can be NULL, so that it is never
    unknown.
    """
    tests = conjuncts(node.condition)
    present = n.Not(n.IsNull(node.value))
    tables = {binding.var: binding.table for binding in node.bindings} | {MESSAGE: "messages"}
    known = present in tests or _never_null(node.value, tables)
    if exact and not (known and _never_null(node.term, tables)):
        return None
    rest = [test for test in tests if test not in (present, n.Truth(True))]
    return n.Exists(node.bindings, n.And.of([n.Compare("=", node.value, node.term), *rest]))


def _never_null(term: n.Term, tables: dict[str, str]) -> bool:
    match term:
        case n.Column(var, name):
            return var in tables and name in (
                KEY_COLUMN[tables[var]],
                *BOUNDED[tables[var]],
                "audience",
            )
    return False


def _exists(node: n.Exists, depths: Depths, *, exact: bool) -> n.Condition:
    """Return an EXISTS without others directly in it, and what is not about it beside it.

    ``EXISTS (r: C AND D)`` is ``C AND EXISTS (r: D)`` where only truth counts and C does not
    name r; a D must remain, for there may be no row at all.
    """
    inside = _inside(node.bindings, depths)
    condition = _canonicalize(node.condition, inside, exact=False)
    bindings = list(node.bindings)
    tests: list[n.Condition] = []
    for test in conjuncts(condition):
        if isinstance(test, n.Exists):
            bindings += test.bindings
            tests += conjuncts(test.condition)
        else:
            tests.append(test)
    inside = _inside(tuple(bindings), depths)
    tests = [_compare(test, inside) if isinstance(test, n.Compare) else test for test in tests]
    bound = {binding.var for binding in bindings}
    about = [test for test in tests if variables(test) & bound]
    beside = [] if exact or not about else [test for test in tests if not variables(test) & bound]
    kept = [test for test in tests if test not in beside]
    kept.sort(key=lambda test: _order(test, inside))
    return n.And.of([*beside, n.Exists(tuple(bindings), n.And.of(kept))])


_COLUMNS = ("msgid", "kind", "value", "number", "owner")


def _order(test: n.Condition, depths: Depths) -> tuple[int, int, int]:
    """Order the tests in an EXISTS: what ties it to the outside, then by variable and column."""
    match test:
        case n.Compare("=", n.Column(var), n.Column()):
            return 0, depths[var][2], 0
        case n.Compare(_, n.Column(var), n.Column()):
            return 2, depths[var][2], 0
        case n.Compare(_, n.Column(var, name)) if var in depths:
            rank = _COLUMNS.index(name) if name in _COLUMNS else len(_COLUMNS)
            return 1, depths[var][2], rank
    return 1, len(depths), 0


# Aggregates


def _threshold(node: n.Threshold, depths: Depths, *, exact: bool) -> n.Condition:
    """Return a comparison of an aggregate, a COUNT by ``>``; that there is any row, as EXISTS."""
    aggregate = _rows(node.aggregate, depths)
    op, value = node.op, node.constant.value
    if aggregate.among:
        return replace(node, aggregate=aggregate)
    if aggregate.function != "COUNT" or not isinstance(value, int):
        if isinstance(value, float) and value.is_integer() and aggregate.type is not Type.INTEGER:
            return n.Threshold(aggregate, op, n.Literal(int(value), Type.INTEGER))
        return replace(node, aggregate=aggregate)
    if op in ("=", "<>") and value == 0:
        op = "<=" if op == "=" else ">"
    if op not in (">", ">=", "<", "<="):
        return replace(node, aggregate=aggregate)
    least = _above(op, value)
    term = aggregate.term
    tables = {binding.var: binding.table for binding in aggregate.bindings}
    if least == 0 and (term is None or _never_null(term, tables)):
        rows = n.Exists(aggregate.bindings, aggregate.condition)
        above = _exists(rows, depths, exact=exact or op in ("<", "<="))
    else:
        above = n.Threshold(aggregate, ">", n.Literal(least, Type.INTEGER))
    return _unless_below(op, above)


def _rows(node: n.Aggregate, depths: Depths) -> n.Aggregate:
    """Return an aggregate whose condition is canonical and in order.

    Only rows for which it is true count, as in an EXISTS.
    """
    inside = _inside(node.bindings, depths)
    tests = conjuncts(_canonicalize(node.condition, inside, exact=False))
    ordered = sorted(tests, key=lambda test: _order(test, inside))
    return replace(node, condition=n.And.of(ordered))


# Comparisons


def _compare(node: n.Compare, depths: Depths) -> n.Condition:
    """Return a comparison with the variable bound last, or else no constant, on its left."""
    comparison = _age(node) or node
    op, left, right = comparison.op, comparison.left, comparison.right
    if isinstance(left, n.Column) and isinstance(right, n.Column):
        first, second = (depths[column.var] for column in (left, right))
        before = (first[0], first[2], left.name) < (second[0], second[2], right.name)
        down = first[0] == second[0] and op in ("<", "<=", ">", ">=")
        if left.type is not Type.SET and (op in (">", ">=") if down else before):
            return n.Compare(FLIPPED[op], right, left)
    elif isinstance(left, n.Literal) and not isinstance(right, n.Literal):
        op, left, right = FLIPPED[op], right, left
    match right:
        case n.Literal(int(value), Type.INTEGER) if type_of(left) is Type.INTEGER:
            bound = n.Literal(_above(op, value), Type.INTEGER)
            if op in ("=", "<>"):
                return n.Compare(op, left, bound)
            return _unless_below(op, n.Compare(">", left, bound))
    return comparison if left is comparison.left else n.Compare(op, left, right)


def _above(op: str, value: int) -> int:
    """Return the bound of a comparison of whole numbers with ``value``, if written by ``>``."""
    return value - 1 if op in (">=", "<") else value


def _unless_below(op: str, above: n.Condition) -> n.Condition:
    return n.Not(above) if op in ("<", "<=") else above


def _age(node: n.Compare) -> n.Compare | None:
    """Return ``column op now() - length`` if a comparison of one column with now() says so."""
    left, right = linear(node.left), linear(node.right)
    columns = [part for part in walk(node) if isinstance(part, n.Column)]
    if left is None or right is None or len(columns) != 1:
        return None
    form, column = add(left, right, -1), columns[0]
    sign = form.coefficient(column)
    if dict(form.terms) != {column: sign, n.Now(): -sign}:
        return None
    # sign * (column - now()) + constant op 0
    op = node.op if sign > 0 else FLIPPED[node.op]
    ago = n.Arith("-", n.Now(), n.Literal(form.constant * sign, Type.DURATION), Type.INSTANT)
    return n.Compare(op, column, ago)
