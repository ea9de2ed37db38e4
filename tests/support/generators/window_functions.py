"""Random window functions: over which messages, in which order, and how their value is tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapestry.core.schema import MESSAGES, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RANKS, SHIFTS, VALUES
from tapestry.query.tree.printer import print_condition, print_term
from tests.support.generators.rows import TEXTS
from tests.support.generators.terms import TRUE, column, integer, number, text

_TOTALS = ("COUNT", "COUNT", "SUM", "AVG", "MIN", "MAX")
_FRAMES: tuple[tuple[int | None, int | None], ...] = (
    *((None, 0), (-1, 0), (-2, 0), (0, 0), (None, None), (0, None), (0, 1), (-1, 1)),
    *((-2, -1), (None, -1), (1, 2), (1, None)),
)


class WindowFunctions:
    """What a writer of filters draws where rows of a partition are looked at in their order."""

    made: int
    limits: Any
    pick: Callable[..., Any]
    condition: Callable[..., Any]
    plain: Callable[..., Any]
    duration: Callable[..., Any]

    def window_function(self, scope: tuple[n.Binding, ...]) -> n.Condition:
        """Draw a test of the value of a window function of a message in scope."""
        message = self.pick(*[binding for binding in scope if binding.table == MESSAGES])
        name = self.pick(*RANKS, *SHIFTS, *SHIFTS, *VALUES, *_TOTALS)
        over = self._over(message, name)
        if name in VALUES:
            return self._value(over, message)
        if over.type is Type.INSTANT:
            bound: n.Literal = n.Literal(self.pick(0, 3, 9), Type.INSTANT)
            return n.Compare(self.pick("<", ">=", "="), over, bound)
        if name in RANKS and self.pick(True, False, False, False):
            return n.InList(over, n.Values((1, 3), Type.INTEGER))
        bound = self.pick(integer(1), integer(2), integer(3), integer(0), number(1.5))
        if name in ("PERCENT_RANK", "CUME_DIST"):
            bound = self.pick(*map(number, (0.25, 0.5, 0.3)), integer(0), integer(1))
        op = self.pick("=", "=", "<>", "<", "<=", ">", ">=")
        return n.Compare(op, *((bound, over) if self.pick(True, False, False) else (over, bound)))

    def _over(self, message: n.Binding, name: str) -> n.Over:
        per = [column(message, self.pick("sender", "inreplyto", "sender", "list"))]
        if self.pick(True, *[False] * 5):
            per.append(column(message, self.pick("size", "source")))
        keys = (*["received"] * 4, "ts", "date", "size", "subject")
        order: n.Column | None = column(message, self.pick(*keys))
        if name in _TOTALS and self.pick(True, False, False, False):
            order = None
        term = self._term(message, name)
        count = integer(self.pick(1, 2, 3)) if name == "NTH_VALUE" else None
        if name in SHIFTS and self.pick(True, False, False):
            count = integer(self.pick(1, 2))
        frame = None
        if order and name not in RANKS and name not in SHIFTS and self.pick(True, True, False):
            frame = self._frame(order)
        condition: n.Condition = TRUE
        among = self.pick("all", "all", "all", "all", "plain", "condition")
        if among != "all":
            plain = among == "plain"
            condition = self.plain(message) if plain else self.condition((message,), 1, 1)
        kind = term.type if isinstance(term, n.Column) else Type.INTEGER
        if name == "COUNT":
            kind = Type.INTEGER
        if name == "NTILE":
            count = integer(self.pick(1, 2, 3, 4))
        distinct = name == "COUNT" and term is not None and self.pick(True, False)
        return n.Over(
            name, message.var, term, count, distinct, tuple(per), order,
            order is not None and self.pick(True, False, False), frame, condition, kind,
        )  # fmt: skip

    def _term(self, message: n.Binding, name: str) -> n.Term | None:
        if name in RANKS:
            return None
        if name in VALUES:
            keys = ("received", "sender", "received", "sender", "date", "size", "inreplyto")
            return column(message, self.pick(*keys))
        if name == "COUNT":
            return self.pick(None, None, column(message, "sender"))
        keys = ("size", "received", "date") if name in ("MIN", "MAX") else ("size",)
        return column(message, self.pick(*keys))

    def _frame(self, order: n.Column) -> n.Frame:
        low, high = self.pick(*_FRAMES)
        rows = self.pick(True, False)
        if not rows and order.type is Type.TEXT:
            low, high = low and 0, high and 0
        kind = Type.INTEGER if rows or order.type is not Type.INSTANT else Type.DURATION
        unit = 1 if kind is Type.INTEGER else self.pick(1, 3, 8) * self._unit()
        bounds = [
            None if bound is None else n.Literal(bound * unit, kind if bound else Type.INTEGER)
            for bound in (low, high)
        ]
        return n.Frame(rows, *bounds)

    def _unit(self) -> int:
        return int(self.limits.unit)

    def _value(self, over: n.Over, message: n.Binding) -> n.Condition:
        assert isinstance(over.term, n.Column)
        kind, op = over.type, self.pick("=", "=", "<>", "<", ">=")
        shape = self.pick("compare", "compare", "own", "own", "null", "other")
        if shape == "null":
            return n.IsNull(over)
        if shape == "other":
            return n.Compare(op, over, self._over_like(over, message))
        if kind is Type.INSTANT:
            own = column(message, self.pick("received", "received", "ts"))
            if shape == "own":
                ago = n.Arith("-", own, self.duration(), Type.INSTANT)
                return n.Compare(self.pick("<", "<=", ">"), over, ago)
            if self.pick(True, False):
                ago = n.Arith("-", n.Now(), self.duration(), Type.INSTANT)
                return n.Compare(self.pick("<", "<=", ">"), over, ago)
            gap = n.Arith("-", own, over, Type.DURATION)
            return n.Compare(self.pick(">", ">=", "<"), gap, self.duration())
        if kind is Type.INTEGER:
            return n.Compare(op, over, self.pick(integer(1), integer(2), column(message, "size")))
        if shape == "own":
            return n.Compare(op, over, column(message, over.term.name))
        return n.Compare(op, over, text(self.pick(*TEXTS[over.term.name])))

    def _over_like(self, over: n.Over, message: n.Binding) -> n.Over:
        """Draw another window function whose value is of the same column."""
        name = self.pick(*SHIFTS, "FIRST_VALUE")
        other = self._over(message, name)
        parts = {field: getattr(other, field) for field in other.__dataclass_fields__}
        return n.Over(**parts | {"term": over.term, "type": over.type})


def written(over: n.Over) -> str:
    """Return a window function as it is written."""
    term = print_term(over.term) if over.term else "*" if over.name == "COUNT" else ""
    count = f"{', ' * bool(term)}{over.count.value}" if over.count else ""
    parts = [f"PARTITION BY {', '.join(map(print_term, over.per))}"]
    if over.order:
        parts.append(f"ORDER BY {print_term(over.order)}{' DESC' * over.descending}")
    if over.frame:
        parts.append(_frame(over.frame))
    if over.condition != TRUE:
        parts.append(f"AMONG {print_condition(over.condition)}")
    return f"{over.name}({'DISTINCT ' * over.distinct}{term}{count}) OVER ({' '.join(parts)})"


def _frame(frame: n.Frame) -> str:
    ends = " AND ".join((_bound(frame.low, "PRECEDING"), _bound(frame.high, "FOLLOWING")))
    return f"{'ROWS' if frame.rows else 'RANGE'} BETWEEN {ends}"


def _bound(bound: n.Literal | None, unbounded: str) -> str:
    if bound is None:
        return f"UNBOUNDED {unbounded}"
    if not bound.value:
        return "CURRENT ROW"
    assert isinstance(bound.value, int)
    way = "PRECEDING" if bound.value < 0 else "FOLLOWING"
    return f"{print_term(n.Literal(abs(bound.value), bound.type))} {way}"
