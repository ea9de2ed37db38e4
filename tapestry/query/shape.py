"""A checked condition in one shape, so that conditions that mean the same look the same.

Laws: ``shaped`` keeps the rows for which a condition is true; ``settled`` then forgets how
variables are named and in which order parts stand.  Neither is printed or run: they are for
telling whether two conditions mean the same, and what a condition says.

What may become what depends on where it stands.  Where only truth counts (not under a NOT,
and anywhere directly inside an EXISTS, which itself is true or false), unknown may become
false; elsewhere it must stay.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

from tapestry.core.schema import KEYS, Type
from tapestry.query.comparisons import FLIPPED
from tapestry.query.nodes import (
    Aggregate,
    And,
    Arith,
    Binding,
    Column,
    Compare,
    Condition,
    Exists,
    Has,
    InList,
    InQuery,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Now,
    Or,
    Term,
    Top,
    Truth,
)
from tapestry.query.parsed import MESSAGE
from tapestry.query.terms import type_of

LONGEST_LIST = 5
"""Values of an IN that are written out as alternatives."""

Depths = dict[str, tuple[int, str, int]]
"""Of each variable in scope: how deep it is bound, its table, and its place among its like."""


def shaped(condition: Condition) -> Condition:
    """Return a condition on ``m`` that is true of the same messages, in the usual shape.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.printer import print_condition
    >>> from tapestry.query.read import read
    >>> def shape(text): return print_condition(shaped(read(text, Context()).condition))
    >>> shape("now() - m.ts > 14 days AND 5 < m.size")
    'm.ts < now() - 2 weeks AND m.size > 5'
    >>> shape("m.msgid IN (SELECT r.inreplyto FROM messages r WHERE m.size > 5)")
    'm.size > 5 AND EXISTS (r: r.inreplyto = m.msgid)'
    """
    return _shape(condition, {MESSAGE: (0, "messages", 0)}, exact=False)


def settled(condition: Condition) -> Condition:
    """Return a shaped condition with its variables named by their depth and its parts in order."""
    found: Condition = _settle(condition, {MESSAGE: MESSAGE}, 1)
    return found


# Shapes


def _shape(node: Condition, depths: Depths, *, exact: bool) -> Condition:
    match node:
        case And():
            return conjunction([_shape(arg, depths, exact=exact) for arg in node.args])
        case Or():
            return disjunction([_shape(arg, depths, exact=exact) for arg in node.args])
        case Not():
            inner = _shape(node.arg, depths, exact=True)
            written = isinstance(node.arg, Not)
            return inner.arg if isinstance(inner, Not) and not written else Not(inner)
        case Exists():
            return _exists(node, depths, exact=exact)
        case InQuery():
            found = _as_exists(node, exact=exact)
            if found is not None:
                return _exists(found, depths, exact=exact)
            inside = _inside(node.bindings, depths)
            return replace(node, condition=_shape(node.condition, inside, exact=False))
        case InList(term, values) if len(values.values) <= LONGEST_LIST:
            tests = [Compare("=", term, Literal(each, values.type)) for each in values.values]
            return disjunction(list[Condition](tests))
        case Compare():
            return _compare(node, depths)
        case _:
            return node


def conjunction(parts: list[Condition]) -> Condition:
    """Return the AND of parts, none of them an And in an And."""
    flat = [each for part in parts for each in (part.args if isinstance(part, And) else (part,))]
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def disjunction(parts: list[Condition]) -> Condition:
    """Return the OR of parts, none of them an Or in an Or."""
    flat = [each for part in parts for each in (part.args if isinstance(part, Or) else (part,))]
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def _inside(bindings: tuple[Binding, ...], depths: Depths) -> Depths:
    depth = 1 + max(depth for depth, _, _ in depths.values())
    bound = {each.var: (depth, each.table, place) for place, each in enumerate(bindings)}
    return depths | bound


# EXISTS


def _as_exists(node: InQuery, *, exact: bool) -> Exists | None:
    """Return the EXISTS that an IN (SELECT …) is, if it is one here.

    It is where only truth counts; elsewhere if neither side can be NULL, so that it is never
    unknown.
    """
    tests = node.condition.args if isinstance(node.condition, And) else (node.condition,)
    present = Not(IsNull(node.value))
    tables = {each.var: each.table for each in node.bindings} | {MESSAGE: "messages"}
    known = present in tests or _never_null(node.value, tables)
    if exact and not (known and _never_null(node.term, tables)):
        return None
    rest = [test for test in tests if test not in (present, Truth(True))]
    return Exists(node.bindings, conjunction([Compare("=", node.value, node.term), *rest]))


def _never_null(term: Term, tables: dict[str, str]) -> bool:
    match term:
        case Column(var, name):
            return var in tables and name in (KEYS[tables[var]], "ts", "audience")
    return False


def _exists(node: Exists, depths: Depths, *, exact: bool) -> Condition:
    """Return an EXISTS without others directly in it, and what is not about it beside it.

    ``EXISTS (r: C AND D)`` is ``C AND EXISTS (r: D)`` where only truth counts and C does not
    name r; a D must remain, for there may be no row at all.
    """
    inside = _inside(node.bindings, depths)
    condition = _shape(node.condition, inside, exact=False)
    bindings = list(node.bindings)
    tests: list[Condition] = []
    for test in condition.args if isinstance(condition, And) else (condition,):
        if isinstance(test, Exists):
            bindings += test.bindings
            tests += test.condition.args if isinstance(test.condition, And) else (test.condition,)
        else:
            tests.append(test)
    inside = _inside(tuple(bindings), depths)
    tests = [_compare(test, inside) if isinstance(test, Compare) else test for test in tests]
    mine = {each.var for each in bindings}
    about = [test for test in tests if _names(test) & mine]
    beside = [] if exact or not about else [test for test in tests if not _names(test) & mine]
    kept = [test for test in tests if test not in beside]
    kept.sort(key=lambda test: _order(test, inside))
    return conjunction([*beside, Exists(tuple(bindings), conjunction(kept))])


def _names(node: Any) -> set[str]:
    """Return the variables that a condition names."""
    if isinstance(node, tuple):
        return {name for part in node for name in _names(part)}
    if isinstance(node, Column):
        return {node.var}
    if isinstance(node, Node):
        return {name for part in fields(node) for name in _names(getattr(node, part.name))}
    return set()


_COLUMNS = ("msgid", "kind", "value", "number", "owner")


def _order(test: Condition, depths: Depths) -> tuple[int, int, int]:
    """Order the tests in an EXISTS: what ties it to the outside, then by variable and column."""
    match test:
        case Compare("=", Column(var), Column()):
            return 0, depths[var][2], 0
        case Compare(_, Column(var), Column()):
            return 2, depths[var][2], 0
        case Compare(_, Column(var, name)) if var in depths:
            rank = _COLUMNS.index(name) if name in _COLUMNS else len(_COLUMNS)
            return 1, depths[var][2], rank
    return 1, len(depths), 0


# Comparisons


def _compare(node: Compare, depths: Depths) -> Condition:
    """Return a comparison with the variable bound last, or else no constant, on its left."""
    found = _age(node) or node
    op, left, right = found.op, found.left, found.right
    if isinstance(left, Column) and isinstance(right, Column):
        first, second = (depths[each.var] for each in (left, right))
        before = (first[0], first[2], left.name) < (second[0], second[2], right.name)
        down = first[0] == second[0] and op in ("<", "<=", ">", ">=")
        if left.type is not Type.SET and (op in (">", ">=") if down else before):
            return Compare(FLIPPED[op], right, left)
    elif isinstance(left, Literal) and not isinstance(right, Literal):
        op, left, right = FLIPPED[op], right, left
    match right:
        case Literal(int(value), Type.INTEGER) if type_of(left) is Type.INTEGER:
            return _whole(op, left, value)
    return found if left is found.left else Compare(op, left, right)


def _whole(op: str, left: Term, value: int) -> Condition:
    """Return a comparison of whole numbers by ``>``, negated if need be."""
    match op:
        case ">=" | "<":
            above: Condition = Compare(">", left, Literal(value - 1, Type.INTEGER))
        case ">" | "<=":
            above = Compare(">", left, Literal(value, Type.INTEGER))
        case _:
            return Compare(op, left, Literal(value, Type.INTEGER))
    return Not(above) if op in ("<", "<=") else above


def _age(node: Compare) -> Compare | None:
    """Return ``column op now() - length`` if a comparison of one column with now() says so."""
    columns: list[tuple[int, Column]] = []
    total, nows = 0, 0
    for sign, term in (*_sum(node.left, 1), *_sum(node.right, -1)):
        match term:
            case Now():
                nows += sign
            case Column(type=Type.INSTANT):
                columns.append((sign, term))
            case Literal(int(length), Type.DURATION):
                total += sign * length
            case _:
                return None
    if len(columns) != 1 or columns[0][0] != -nows:
        return None
    sign, column = columns[0]
    # sign * (column - now) + total op 0
    op = node.op if sign > 0 else FLIPPED[node.op]
    ago = Arith("-", Now(), Literal(total * sign, Type.DURATION), Type.INSTANT)
    return Compare(op, column, ago)


def _sum(term: Term, sign: int) -> list[tuple[int, Term]]:
    """Return the terms of a sum, each with its sign."""
    match term:
        case Arith("+", left, right):
            return [*_sum(left, sign), *_sum(right, sign)]
        case Arith("-", left, right):
            return [*_sum(left, sign), *_sum(right, -sign)]
    return [(sign, term)]


# Order and names


def _settle(node: Any, names: dict[str, str], depth: int) -> Any:
    if isinstance(node, tuple):
        return tuple([_settle(part, names, depth) for part in node])
    bindings = _bindings(node)
    if bindings:
        bound = {each.var: f"v{depth}.{place}" for place, each in enumerate(bindings)}
        names, depth = names | bound, depth + 1
    if isinstance(node, Column | Binding):
        return replace(node, var=names.get(node.var, node.var), span=None)
    if isinstance(node, Not) and isinstance(node.arg, Not):
        return _settle(node.arg.arg, names, depth)
    if not isinstance(node, Node):
        return node
    parts = {part.name: _settle(getattr(node, part.name), names, depth) for part in fields(node)}
    if isinstance(node, And | Or):
        parts["args"] = tuple(sorted(parts["args"], key=repr))
    return type(node)(**parts | {"span": None})


def _bindings(node: Any) -> tuple[Binding, ...]:
    match node:
        case Exists() | InQuery() | Aggregate():
            return node.bindings
        case Top():
            return (node.binding,)
    return ()


# The order of phrases

_SAID = ("to", "cc", "sender_name", "sender", "subject", "body")
_ANY = re.compile(r"^%(?=@)|@%$")


def arranged(condition: Condition) -> Condition:
    """Return a shaped condition with what one phrase says side by side, as the phrase has it."""
    match condition:
        case And():
            return And(tuple(sorted(map(arranged, condition.args), key=_and_rank)))
        case Or():
            return Or(tuple(sorted(map(arranged, condition.args), key=_or_rank)))
        case Not():
            return Not(arranged(condition.arg))
        case Exists():
            return replace(condition, condition=_arranged_inside(condition.condition))
        case _:
            return condition


def _arranged_inside(condition: Condition) -> Condition:
    """Return the tests of an EXISTS with their own alternatives arranged, but not the tests."""
    if isinstance(condition, And):
        return And(tuple(map(arranged, condition.args)))
    return arranged(condition)


def _and_rank(test: Condition) -> tuple[int, str]:
    match test:
        case IsNull(Column(name="inreplyto")):
            return 0, ""
        case Exists(bindings) if len(bindings) > 1:
            return 1, ""
        case Not(IsNull(Column(name="inreplyto"))):
            return 2, ""
        case Or((Has(Column(name="sender_name")), *_)) | Like(Column(name="sender")):
            return 3, ""
        case Compare("=", Column(name="sender")):
            return 3, ""
        case Not(Exists(condition=And((_, Compare(">", Column(name="ts")))))):
            return 4, ""
        case Compare("<=" | "<" | ">" as op, Column(name="ts")):
            return 5 + ("<=", "<", ">").index(op), ""
    return 8, repr(test)


def _or_rank(test: Condition) -> tuple[str, int, int, str]:
    """Rank alternatives by the text that they look for, then by column."""
    match test:
        case (
            Compare("=", Column(name=name), Literal(str(text)))
            | Like(Column(name=name), Literal(str(text)))
            | Has(Column(name=name), Literal(str(text)))
        ) if name in _SAID:
            base = _ANY.sub("", text.replace("\\", "")).lower()
            return base, _SAID.index(name), int(isinstance(test, Has)), ""
    return "\U0010ffff", len(_SAID), 0, repr(test)
