"""Window functions read literally: a partition is sorted at each instant, and rows are counted off.

A second opinion on ``tapestry/query/check/window_functions.py``, from LANGUAGE.md alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from tapestry.core.schema import COLUMNS, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RELATIVE_RANKS
from tests.support.engines import folds
from tests.support.oracle.queries import Data, walk
from tests.support.oracle.values import Row, cell, some

Holds = Callable[[n.Condition, dict[str, Row]], bool | None]
Value = Callable[[n.Term, dict[str, Row]], object]
Place = tuple[object, str]


def functions(node: n.Condition | n.Term) -> list[n.Over]:
    """Return the window functions of a test or a term, none that stands in another."""
    match node:
        case n.Over():
            return [node]
        case n.Compare() | n.Arith():
            return functions(node.left) + functions(node.right)
        case n.Like() | n.Has() | n.IsNull() | n.InList():
            return functions(node.term)
        case n.Call():
            return [found for arg in node.args for found in functions(arg)]
    return []


def is_test(condition: n.Condition) -> bool:
    """Tell whether a condition is a test of the value of a window function."""
    return bool(functions(condition))


def pushed(condition: n.Condition) -> n.Condition:
    """Return the NOT of a condition with the NOT further inside."""
    match condition:
        case n.Not(arg):
            return arg
        case n.And(args):
            return n.Or(tuple(n.Not(arg) for arg in args))
        case n.Or(args):
            return n.And(tuple(n.Not(arg) for arg in args))
    raise TypeError(f"no NOT can be pushed into {type(condition).__name__}")


def passes(
    test: n.Condition,
    negated: bool,
    rows: dict[str, Row],
    visible: Data,
    holds: Holds,
    value: Value,
) -> bool | None:
    """Tell whether a test of window functions holds, or its NOT, of one of their rows each.

    Copies of one message may share a place; what IS NULL says, it says of all of them.
    """
    overs = functions(test)
    choices = [values_of(over, rows, visible, holds, value) for over in overs]
    truths = []
    for chosen in product(*choices):
        literals = {
            id(over): n.Literal(one, Type.NULL) for over, one in zip(overs, chosen, strict=True)
        }
        truths.append(holds(_with_values(test, literals), rows))
    if negated:
        truths = [None if truth is None else not truth for truth in truths]
    if isinstance(test, n.IsNull) and not negated:
        return all(truths)
    return some(truths)


def _with_values(node, literals):
    if isinstance(node, n.Over):
        return literals[id(node)]
    if isinstance(node, tuple):
        return tuple(_with_values(part, literals) for part in node)
    if not isinstance(node, n.Node):
        return node
    parts = {
        name: _with_values(getattr(node, name), literals)
        for name in node.__dataclass_fields__
        if name != "span"
    }
    return type(node)(**parts)


def values_of(
    over: n.Over, rows: dict[str, Row], visible: Data, holds: Holds, value: Value
) -> list[object]:
    """Return the value of a window function: several where copies of a message share a place."""
    own = rows[over.var]
    there = [row for row in visible["messages"] if _is_there(over, row, holds)]
    if not any(row is own for row in there):
        return [None]
    part = [row for row in there if _per(over, row) == _per(over, own)]
    terms = {id(row): over.term and value(over.term, {over.var: row}) for row in part}
    if over.order is None:
        return [_total(over, part, terms)]
    places = sorted({_place(over, row) for row in part}, key=lambda place: place[1])
    places.sort(key=_first, reverse=over.descending)
    here = places.index(_place(over, own))
    if over.name == "ROW_NUMBER":
        return [1 + len(_names(places[:here]))]
    earlier = [place for place in places[:here] if place[0] != places[here][0]]
    if over.name in RELATIVE_RANKS:
        peers = [place for place in places if place[0] == places[here][0]]
        return [_relative(over, places, here, [*earlier, *peers], earlier)]
    if over.name == "RANK":
        return [1 + len(_names(earlier))]
    if over.name == "DENSE_RANK":
        return [1 + len({key for key, _ in earlier})]
    if over.name in ("LAG", "LEAD"):
        found = _shifted(over, places, here)
    else:
        framed = _framed(over, places, here)
        if over.name not in ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"):
            return [_total(over, [r for r in part if _place(over, r) in framed], terms)]
        found = _nth(over, framed)
    return [terms[id(row)] for row in part if _place(over, row) in found] or [None]


def _relative(over: n.Over, places: list[Place], here: int, reached, earlier):
    """Return a place against the number of messages, of which copies of one are one."""
    own, number = {places[here][1]}, _far(places)
    match over.name:
        case "NTILE":
            assert over.count
            return folds.tile(len(_names(places[:here]) - own), number, over.count.value)
        case "CUME_DIST":
            return _far(reached) / number
    return len(_names(earlier) - own) / (number - 1) if number > 1 else 0


def _is_there(over: n.Over, row: Row, holds: Holds) -> bool:
    values = [*_per(over, row), *([_key(over, row)] if over.order else [])]
    return None not in values and holds(over.condition, {over.var: row}) is True


def _per(over: n.Over, row: Row) -> list[object]:
    return [cell(row, column.name, COLUMNS["messages"][column.name]) for column in over.per]


def _key(over: n.Over, row: Row):
    return cell(row, over.order.name, COLUMNS["messages"][over.order.name])


def _place(over: n.Over, row: Row) -> Place:
    return _key(over, row), str(row["msgid"])


def _first(place):
    return place[0]


def _names(places: list[Place]) -> set[str]:
    """Return the messages of some places: copies with other values stand in several."""
    return {msgid for _, msgid in places}


def _shifted(over: n.Over, places: list[Place], here: int) -> list[Place]:
    count = over.count.value if over.count else 1
    if over.name == "LAG":
        return [p for i, p in enumerate(places[:here]) if _far(places[i + 1 : here]) == count - 1]
    after = range(here + 1, len(places))
    return [places[i] for i in after if _far(places[here + 1 : i]) == count - 1]


def _far(places: list[Place]) -> int:
    return len(_names(places))


def _nth(over: n.Over, framed: list[Place]) -> list[Place]:
    if over.name == "LAST_VALUE":
        return framed[-1:]
    count = over.count.value if over.count else 1
    return [place for i, place in enumerate(framed) if _far(framed[:i]) == count - 1]


def _framed(over: n.Over, places: list[Place], here: int) -> list[Place]:
    frame = over.frame or n.Frame(False, None, n.Literal(0, Type.INTEGER))
    low = frame.low.value if frame.low else None
    high = frame.high.value if frame.high else None
    if frame.rows:
        far = [-_far(places[i + 1 : here + 1]) for i in range(here)]
        far += [0] + [_far(places[here:i]) for i in range(here + 1, len(places))]
    else:
        sign = -1 if over.descending else 1
        own = places[here][0]
        if low in (0, None) and high in (0, None):  # of texts, too
            far = [0 if key == own else sign if key > own else -sign for key, _ in places]
        else:
            far = [sign * (key - own) for key, _ in places]
    return [
        place
        for place, distance in zip(places, far, strict=True)
        if (low is None or low <= distance) and (high is None or distance <= high)
    ]


def _total(over: n.Over, counted: list[Row], terms):
    if over.term is None:
        return len(counted)
    found = [terms[id(row)] for row in counted if terms[id(row)] is not None]
    if over.distinct:
        found = list(set(found))
    match over.name:
        case "COUNT":
            return len(found)
        case "MIN":
            return min(found, default=None)
        case "MAX":
            return max(found, default=None)
        case "SUM":
            return sum(found) if found else None
        case "AVG":
            return sum(found) / len(found) if found else None
    raise TypeError(f"{over.name} is not a window function")


def instants(query: n.CheckedQuery, data: Data) -> set[int]:
    """Return when a value of some message, give or take a duration, is now."""
    nodes = list(walk(query.condition))
    if not any(isinstance(node, n.Over) for node in nodes):
        return set()
    if not any(isinstance(node, n.Now) for node in nodes):
        return set()
    lengths = {
        node.value for node in nodes if isinstance(node, n.Literal) and node.type is Type.DURATION
    }
    steps = {0, *lengths, *(-length for length in lengths)}
    at = [cell(r, k, Type.INSTANT) for r in data["messages"] for k in ("ts", "received", "date")]
    return {one + step + more for one in at if one is not None for step in steps for more in (0, 1)}
