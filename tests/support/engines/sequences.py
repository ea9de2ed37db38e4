"""Sequences read literally: rows are put one after the other, nothing is written out.

A second opinion on ``tapestry/query/check/sequences.py``, from LANGUAGE.md alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tests.support.oracle.queries import Data, walk
from tests.support.oracle.values import Row, cell

Holds = Callable[[n.Condition, dict[str, Row]], bool | None]
Bound = dict[str, list[Row]]


def moment(row: Row) -> int:
    """Return when a row came: an annotation when it became visible, a message when received."""
    name = "ts" if "annid" in row else "received"
    return int(str(cell(row, name, Type.INSTANT)))


def comes(
    sequence: n.Sequence, rows: dict[str, Row], visible: Data, t: int, holds: Holds
) -> bool | None:
    """Tell whether some rows come as a sequence says, seen at ``t`` from the rows around it.

    One that has no other rows than those is unknown where what it says of them is.
    """
    coming = [b for step in sequence.steps if not step.negated for b in step.bindings]
    if all(not binding.table for binding in coming):
        return _known(sequence, rows, visible, t, holds)
    return _comes(sequence, rows, visible, t, holds)


def _known(
    sequence: n.Sequence, rows: dict[str, Row], visible: Data, t: int, holds: Holds
) -> bool | None:
    absent = {step.bindings[0].var for step in sequence.steps if step.negated}
    tests = _conjuncts(sequence.condition)
    of_rows = [holds(test, rows) for test in tests if not _names(test) & absent]
    about = n.And(tuple(test for test in tests if _names(test) & absent))
    bare = n.Sequence(sequence.steps, about)
    if False in of_rows or not _comes(bare, rows, visible, t, holds):
        return False
    return None if None in of_rows else True


def _comes(sequence: n.Sequence, rows: dict[str, Row], visible: Data, t: int, holds: Holds) -> bool:
    tests = _conjuncts(sequence.condition)
    absent = {step.bindings[0].var for step in sequence.steps if step.negated}
    for bound, path in _paths(sequence.steps, 0, [], {}, rows, visible):
        kept = [test for test in tests if not _names(test) & absent]
        if not all(_hold(test, bound, rows, holds) for test in kept):
            continue
        if not any(
            _is_broken(step, before, after, tests, bound, rows, visible, t, holds)
            for step, before, after in _gaps(path)
        ):
            return True
    return False


Path = list[tuple[n.Step, list[Row]]]


def stands_in(window: n.Window, rows: dict[str, Row], visible: Data, holds: Holds) -> bool | None:
    """Tell whether a message stands in a window: all of it is put in order, and cut off.

    Without PER a message stands where its last row does; with it, each row for itself.
    """
    own, at = rows[window.message.var], {}
    among = [row for row in visible["messages"] if _is_among(window, row, holds) is True]
    sign = -1 if window.last else 1
    if not window.per:
        for row in visible["messages"]:
            at[row["msgid"]] = max(at.get(row["msgid"], moment(row)), moment(row))
        order = sorted({row["msgid"] for row in among}, key=lambda msgid: (sign * at[msgid], msgid))
        return own["msgid"] in order[: window.limit.value]
    here, values = _is_among(window, own, holds), _values(window, own)
    if here is False or None in values:
        return False
    place = (sign * moment(own), own["msgid"])
    order = [(sign * moment(row), row["msgid"]) for row in among if _values(window, row) == values]
    before = {msgid for at, msgid in order if (at, msgid) < place}
    return here if len(before) < window.limit.value else False


def of_the_last(limit: int, rows: list[Row]) -> list[Row]:
    """Return the last of some rows, by instant, then by key; those of one place together."""

    def place(row: Row) -> tuple[int, str]:
        return -moment(row), row["annid" if "annid" in row else "msgid"]

    last = sorted({place(row) for row in rows})[:limit]
    return [row for row in rows if place(row) in last]


def _is_among(window: n.Window, row: Row, holds: Holds) -> bool | None:
    return holds(window.condition, {window.binding.var: row})


def _values(window: n.Window, row: Row) -> list[object]:
    return [cell(row, column.name, Type.TEXT) for column in window.per]


def _paths(
    steps: tuple[n.Step, ...],
    place: int,
    path: Path,
    bound: Bound,
    rows: dict[str, Row],
    visible: Data,
) -> Iterator[tuple[Bound, Path]]:
    """Yield all ways to choose rows in the order of the steps, however long ago."""
    if place == len(steps):
        yield bound, path
        return
    step = steps[place]
    if step.negated:
        yield from _paths(steps, place + 1, [*path, (step, [])], bound, rows, visible)
        return
    for count in range(step.least, step.most + 1):
        for chosen in _chosen(step, count, path, rows, visible):
            names = [binding.var for binding in step.bindings]
            if step.most > 1:
                own = {names[0]: [row for group in chosen for row in group]}
            else:
                own = {name: [row] for name, row in zip(names, chosen[0], strict=True)}
            longer = [*path, *((step, list(group)) for group in chosen)]
            yield from _paths(steps, place + 1, longer, bound | own, rows, visible)


def _chosen(
    step: n.Step, count: int, path: Path, rows: dict[str, Row], visible: Data
) -> Iterator[list[tuple[Row, ...]]]:
    """Yield groups of rows, one after the other, each within the step's time of the last."""
    before = next((group for other, group in reversed(path) if not other.negated), [])
    choices = [
        visible[binding.table] if binding.table else [rows[binding.var]]
        for binding in step.bindings
    ]
    for group in product(*choices):
        if not all(_may_follow(old, new, step) for old in before for new in group):
            continue
        if count == 1:
            yield [group]
            continue
        longer = [*path, (step, list(group))]
        for more in _chosen(step, count - 1, longer, rows, visible):
            yield [group, *more]


def _may_follow(old: Row, new: Row, step: n.Step) -> bool:
    gap = moment(new) - moment(old)
    return gap > 0 and (step.within is None or gap <= step.within.value)


def _gaps(path: Path) -> Iterator[tuple[n.Step, list[Row], list[Row]]]:
    """Yield what must not come, with the rows before it and those after it."""
    for place, (step, _) in enumerate(path):
        if step.negated:
            before = [group for other, group in path[:place] if not other.negated]
            after = [group for other, group in path[place:] if not other.negated]
            yield step, before[-1] if before else [], after[0] if after else []


def _is_broken(
    step: n.Step,
    before: list[Row],
    after: list[Row],
    tests: list[n.Condition],
    bound: Bound,
    rows: dict[str, Row],
    visible: Data,
    t: int,
    holds: Holds,
) -> bool:
    """Tell whether what must not come did, or still could."""
    binding, length = step.bindings[0], step.within.value if step.within else None
    if not after and any(t <= moment(row) + length for row in before):
        return True
    about = [test for test in tests if binding.var in _names(test)]
    for row in visible[binding.table]:
        at = moment(row)
        if any(moment(old) >= at for old in before) or any(moment(new) <= at for new in after):
            continue
        gaps = [at - moment(old) for old in before] or [moment(new) - at for new in after]
        if length is not None and any(gap > length for gap in gaps):
            continue
        if all(_hold(test, bound | {binding.var: [row]}, rows, holds) for test in about):
            return True
    return False


def _hold(test: n.Condition, bound: Bound, rows: dict[str, Row], holds: Holds) -> bool:
    """Tell whether a test holds for each of the rows that its variables stand for."""
    named = sorted(_names(test) & bound.keys())
    return all(
        holds(test, rows | dict(zip(named, chosen, strict=True))) is True
        for chosen in product(*[bound[name] for name in named])
    )


def _conjuncts(condition: n.Condition) -> list[n.Condition]:
    if isinstance(condition, n.And):
        return [part for arg in condition.args for part in _conjuncts(arg)]
    return [] if condition == n.Truth(True) else [condition]


def _names(test: n.Condition) -> set[str]:
    return {part.var for part in walk(test) if isinstance(part, n.Column)}


def instants(query: n.CheckedQuery, data: Data) -> set[int]:
    """Return when something that must not come at the end of a sequence no longer can."""
    lengths = {
        step.within.value
        for node in walk(query.condition)
        if isinstance(node, n.Sequence)
        for step in node.steps
        if step.within
    }
    moments = {moment(row) for rows in data.values() for row in rows}
    return {at + length + more for at in moments for length in lengths for more in (0, 1)}
