"""GROUP BY, HAVING and ORDER BY … LIMIT: how they are read, and what they mean.

A group is all rows of FROM and WHERE that have one msgid, so with M the FROM and C the WHERE

    GROUP BY m.msgid HAVING COUNT(*) > 5    is  COUNT(M: m.msgid = x.msgid AND C) > 5
    ORDER BY COUNT(*) DESC LIMIT 10         is  x IN TOP 10 BY COUNT(M: m.msgid = x.msgid AND C)

of every message x; a group has a row, which is said where the HAVING does not imply it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import MESSAGES, Type
from tapestry.query.check.scope import outside
from tapestry.query.limits import MAX_LIMIT
from tapestry.query.tql.expressions import Parser
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import Branch
from tapestry.query.tree.walk import holds_of_zero

_ORDER = "Write ORDER BY COUNT(*) DESC LIMIT 10, after GROUP BY m.msgid."


@dataclass(frozen=True, slots=True)
class Select:
    """The selection (``*`` is a Column of that name), its place, FROM, and ON AND WHERE.

    ``group`` is what stands after GROUP BY; ``order`` and ``limit`` are there together.
    """

    items: tuple[n.Term | n.Aggregate, ...]
    span: Span
    bindings: tuple[n.Binding, ...]
    condition: n.Condition
    group: n.Column | None = None
    having: n.Condition | None = None
    order: n.Aggregate | None = None
    limit: n.Literal | None = None


def grouped(parser: Parser, select: Select) -> Select:
    """Read GROUP BY and HAVING, if they come next."""
    if parser.accept("GROUP"):
        parser.expect("BY")
        start = parser.token.start
        group = parser.term()
        if not isinstance(group, n.Column) or parser.token.word == ",":
            raise only_msgid(parser.since(start))
        select = replace(select, group=group)
    if parser.token.word == "HAVING":
        if select.group is None:
            hint = "Write GROUP BY m.msgid HAVING COUNT(*) > 5."
            raise TapestryError("HAVING needs a GROUP BY.", parser.token.span, hint)
        parser.take()
        select = replace(select, having=parser.condition())
    return select


def only_msgid(span: Span | None) -> TapestryError:
    """Return the error of groups that are not the messages selected."""
    return TapestryError(
        "A filter is grouped by the msgid of the message it selects, and by nothing else.",
        span,
        "Write SELECT m.msgid … GROUP BY m.msgid.",
    )


def ordered(parser: Parser, select: Select) -> Select:
    """Read ORDER BY and LIMIT, one of which comes next."""
    first = parser.token
    if not parser.accept("ORDER"):
        message = f"{first.word} needs an ORDER BY: a filter selects messages, in no order."
        raise TapestryError(message, first.span, _ORDER)
    parser.expect("BY")
    start = parser.token
    aggregate = parser.operand()
    if not isinstance(aggregate, n.Aggregate):
        hint = "Write ORDER BY COUNT(*) DESC LIMIT 10, or leave it out."
        raise TapestryError("Only an aggregate ranks messages.", aggregate.span or start.span, hint)
    if not parser.accept("DESC"):
        span = parser.token.span if parser.token.word == "ASC" else aggregate.span
        raise TapestryError("A rank begins with the highest value.", span, "Write DESC.")
    if parser.accept(","):
        _ties(parser)
    if not parser.accept("LIMIT"):
        raise TapestryError(
            "ORDER BY needs a LIMIT: a filter selects messages, in no order.",
            parser.since(first.start),
            "Add LIMIT 10, or leave ORDER BY out.",
        )
    count = limit(parser)
    if parser.token.word in ("OFFSET", ","):
        raise TapestryError("A rank begins with the first.", parser.token.span, "Leave OFFSET out.")
    return replace(select, order=aggregate, limit=count)


def _ties(parser: Parser) -> None:
    start = parser.token.start
    key = parser.operand()
    if parser.token.word != "DESC" and isinstance(key, n.Column) and key.name.lower() == "msgid":
        parser.accept("ASC")
        if parser.token.word != ",":
            return
    parser.accept("DESC")
    raise TapestryError(
        "Ties are broken by msgid.", parser.since(start), "Write ORDER BY COUNT(*) DESC, m.msgid."
    )


def limit(parser: Parser, what: str = "A top", rows: str = "messages") -> n.Literal:
    """Read how many are in the top, or what else has a limit."""
    start = parser.token.start
    negative = parser.accept("-")
    if parser.token.kind != "number":
        raise parser.unexpected("a whole number")
    digits = parser.take().value.lstrip("0")
    if negative or not digits.isdigit() or len(digits) > 5 or int(digits) > MAX_LIMIT:
        raise TapestryError(
            f"{what} has from 1 to {MAX_LIMIT:,} {rows}.", parser.since(start), "Write 10."
        )
    return n.Literal(int(digits), Type.INTEGER, span=parser.since(start))


def branch(select: Select, selected: n.Binding) -> Branch:
    """Return what a SELECT of the msgids of a variable's rows means."""
    var = selected.var
    if select.having is None and select.order is None:
        return Branch(var, select.bindings, select.condition)
    own = outside(var)
    if select.order is None:
        condition: n.Condition = _having(select, var)
    else:
        condition = top(select, var, n.Column(own, "msgid"))
    return Branch(own, (n.Binding(own, selected.table),), condition)


def top(select: Select, var: str, message: n.Column) -> n.Top:
    """Return that ``message`` is among those which a SELECT with a LIMIT selects."""
    assert select.order is not None
    assert select.limit is not None
    order = select.order
    if select.group is not None:
        aggregate, ranked, condition = _of_group(order, select, var), outside(var), n.Truth(True)
        among = condition if select.having is None else _having(select, var)
    elif order.bindings:
        others = tuple(binding for binding in select.bindings if binding.var != var)
        among = n.Exists(others, select.condition) if others else select.condition
        aggregate, ranked = order, var
    else:
        raise TapestryError(
            f"{order.function} needs a GROUP BY here.",
            order.span,
            f"Write GROUP BY {var}.msgid ORDER BY {order.function}(…) DESC LIMIT 10.",
        )
    binding = n.Binding(ranked, MESSAGES, span=select.span)
    return n.Top(message, select.limit, binding, aggregate, among, span=select.span)


def _rows(select: Select, var: str) -> n.Condition:
    """Return the condition of the rows in the group of the message outside."""
    same = n.Compare("=", n.Column(var, "msgid"), n.Column(outside(var), "msgid"))
    return same if select.condition == n.Truth(True) else n.And((same, select.condition))


def _of_group(aggregate: n.Aggregate, select: Select, var: str) -> n.Aggregate:
    if aggregate.bindings:
        raise TapestryError(
            "After GROUP BY, aggregates are of the rows of a group.",
            aggregate.span,
            "Write COUNT(*) or COUNT(DISTINCT a.owner), and put other conditions into WHERE.",
        )
    return replace(aggregate, bindings=select.bindings, condition=_rows(select, var))


def _having(select: Select, var: str) -> n.Condition:
    """Return what HAVING says of the message outside."""
    assert select.having is not None
    condition = _group_condition(select.having, select, var)
    if _of_none(select.having) is not True:
        return condition
    return n.And((n.Exists(select.bindings, _rows(select, var)), condition))


def _group_condition(node: n.Condition, select: Select, var: str) -> n.Condition:
    match node:
        case n.And() | n.Or():
            return replace(
                node, args=tuple(_group_condition(arg, select, var) for arg in node.args)
            )
        case n.Not():
            return replace(node, arg=_group_condition(node.arg, select, var))
        case n.Threshold():
            return replace(node, aggregate=_of_group(node.aggregate, select, var))
    raise TapestryError(
        "HAVING compares aggregates with constants.", node.span, "Put this into WHERE."
    )


def _of_none(node: n.Condition) -> bool | None:
    """Return whether a HAVING would hold of a group without rows, None being unknown."""
    match node:
        case n.And():
            answers = [_of_none(arg) for arg in node.args]
            return False if False in answers else None if None in answers else True
        case n.Or():
            answers = [_of_none(arg) for arg in node.args]
            return True if True in answers else None if None in answers else False
        case n.Not():
            inner = _of_none(node.arg)
            return None if inner is None else not inner
        case n.Threshold(n.Aggregate(function="COUNT"), op, n.Literal(int() | float() as value)):
            return holds_of_zero(op, value)
    return None
