"""Is a filter monotone?  How the truth of every operator changes as time goes on.

A monotone query only ever gains rows; just those can be run by non-blocking operators [Law11 §3].
The tables are append-only, so a condition can change for two reasons only [Terry92 §4.1]: a row
arrives, or ``now()`` moves on.  ``trend`` says of each operator, with its reason, in which
directions that can change its truth; ``analyze`` derives from it how a disjunct has to be run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from tapestry.query.tree import nodes as n
from tapestry.query.tree.definitions import only_grows
from tapestry.rewrite.stages import Conjunction, HavingTest, NormalAggregate, TopKTest


class Trend(Enum):
    """In which directions the truth of a condition can change, for one binding of variables."""

    CONSTANT = "never changes"
    RISING = "once true, stays true"
    FALLING = "once false, stays false"
    CHANGING = "turns true and false"

    @property
    def negated(self) -> Trend:
        """Return the trend of NOT.

        >>> Trend.RISING.negated, Trend.CHANGING.negated
        (<Trend.FALLING: 'once false, stays false'>, <Trend.CHANGING: 'turns true and false'>)
        """
        return {Trend.RISING: Trend.FALLING, Trend.FALLING: Trend.RISING}.get(self, self)


class Monotonicity(Enum):
    """Ways in which a disjunct has to be run, the easiest first; people are shown the value."""

    MONOTONE = "monotone"
    """It only gains messages, and answers as rows arrive."""

    BOUNDED = "made monotone"
    """Every binding holds over one interval, whose first instant is known beforehand.  Tested
    at that instant, it becomes monotone [Terry92 §4.2, §4.3]."""

    AT_EVENTS = "evaluated at events"
    """It is asked again at every event point, the instants at which its answer can change."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The monotonicity of a disjunct, and the operator that decides it, in words."""

    monotonicity: Monotonicity
    justification: str

    @property
    def description(self) -> str:
        """Return both in one line.

        >>> Analysis(Monotonicity.AT_EVENTS, "the aggregate can rise and fall").description
        'evaluated at events: the aggregate can rise and fall'
        """
        return f"{self.monotonicity.value}: {self.justification}"


def least_monotone(kinds: Iterable[Monotonicity]) -> Monotonicity:
    """Return how a filter has to be run, given how its disjuncts have to.

    >>> least_monotone([Monotonicity.BOUNDED, Monotonicity.MONOTONE])
    <Monotonicity.BOUNDED: 'made monotone'>
    """
    return max(kinds, key=list(Monotonicity).index, default=Monotonicity.MONOTONE)


def analyze(disjunct: Conjunction) -> Analysis:
    """Return how a disjunct of the normal form has to be run, and why.

    Law: unless it is AT_EVENTS, no NOT EXISTS of it that is false turns true again, and its
    aggregate tests change once at most, all to true or all to false.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> from tapestry.rewrite.pipeline import normal
    >>> def show(text): print(analyze(normal(read(text, Context())).disjuncts[0]).description)
    >>> show("EXISTS (r: r.inreplyto = m.msgid)")
    monotone: what it matches once it matches for ever
    >>> show("NOT EXISTS (r: r.inreplyto = m.msgid)")
    made monotone: what must not exist can appear; tested at the earliest instant
    >>> show("NOT EXISTS (r: r.inreplyto = m.msgid AND r.ts > now() - 2 weeks)")
    evaluated at events: what must not exist can cease to exist again
    """
    at_events, once = Monotonicity.AT_EVENTS, "tested at the earliest instant"
    ends = _and(map(trend, disjunct.temporal_predicates)) not in _GAINS
    present = _and(map(trend, disjunct.not_exists))
    if disjunct.top_k_tests:
        return Analysis(at_events, "what is on top changes with every row that counts")
    counted = _and(map(trend, disjunct.having_tests))
    if counted is Trend.FALLING and present in _GAINS:
        return Analysis(Monotonicity.BOUNDED, f"what is counted can become too many; {once}")
    if counted not in _GAINS:
        return Analysis(at_events, "the aggregate can rise and fall")
    if disjunct.having_tests and (disjunct.not_exists or ends):
        # It holds from when the aggregate crosses its bound: no instant known beforehand.
        return Analysis(at_events, "an aggregate beside what ceases to hold")
    if disjunct.having_tests:
        return Analysis(Monotonicity.MONOTONE, "the aggregate is crossed once and for all")
    if present not in _GAINS:
        return Analysis(at_events, "what must not exist can cease to exist again")
    if disjunct.not_exists:
        return Analysis(Monotonicity.BOUNDED, f"what must not exist can appear; {once}")
    if ends:
        return Analysis(Monotonicity.BOUNDED, f"it ceases to hold as time goes on; {once}")
    return Analysis(Monotonicity.MONOTONE, "what it matches once it matches for ever")


def trend(node: n.Condition | Conjunction | HavingTest | TopKTest) -> Trend:
    """Return in which directions the truth of an operator can change; unknown counts as false.

    A Conjunction stands for EXISTS of it.

    >>> trend(n.Compare(">", n.Now(), n.Column("m", "date")))
    <Trend.RISING: 'once true, stays true'>
    >>> trend(n.Not(n.Exists((n.Binding("r", "messages"),), n.Truth(True))))
    <Trend.FALLING: 'once false, stays false'>
    """
    match node:
        case n.Compare(op=op, left=n.Now()):
            # now() only grows, and what it is compared with stays.  (= is two comparisons.)
            return Trend.RISING if op in (">", ">=") else Trend.FALLING
        case n.Compare() | n.Like() | n.Has() | n.IsNull() | n.InList() | n.Truth():
            # The columns of a row never change.
            return Trend.CONSTANT
        case n.And(args=args) | n.Or(args=args):
            return _and(map(trend, args))
        case n.Not(arg=arg):
            return trend(arg).negated
        case n.Exists(condition=inside) | n.InQuery(condition=inside):
            return _exists(trend(inside))
        case Conjunction(aggregate_tests=()):
            nested = (trend(inner).negated for inner in node.not_exists)
            return _exists(_and([*map(trend, node.temporal_predicates), *nested]))
        case Conjunction():
            # An aggregate inside EXISTS crosses its bound at an instant that is no column's.
            return Trend.CHANGING
        case n.Threshold(aggregate=n.Aggregate(among=n.Among())):
            # A row that comes pushes another out.
            return Trend.CHANGING
        case HavingTest(aggregate=NormalAggregate(among=n.Among())):
            return Trend.CHANGING
        case n.Threshold(aggregate=rows, op=op):
            counting = trend(rows.condition)
            growing = _growing(rows, counting is Trend.CONSTANT)
            return _compared(growing, op, _exists(counting))
        case HavingTest(aggregate=aggregate, op=op):
            arriving = _and(map(trend, aggregate.rows))
            plain = all(replace(row, plain=()) == Conjunction() for row in aggregate.rows)
            return _compared(_growing(aggregate, plain), op, arriving)
        case n.Top() | TopKTest():
            # Another message can always overtake it, and be overtaken again.
            return Trend.CHANGING
        case n.Between() | n.Braces() | n.InFilter() | n.NotTrue():
            raise TypeError(f"no checked condition: {node!r}")
        case n.Sequence() | n.Window() | n.Agreement():
            raise TypeError(f"no checked condition: {node!r}")
        case _:
            assert_never(node)


_GAINS = (Trend.CONSTANT, Trend.RISING)


def _and(trends: Iterable[Trend]) -> Trend:
    """Return the trend of AND, or OR: it changes in each direction in which a part does."""
    kinds = set(trends) - {Trend.CONSTANT}
    if len(kinds) > 1:
        return Trend.CHANGING
    return kinds.pop() if kinds else Trend.CONSTANT


def _exists(inside: Trend) -> Trend:
    """Return the trend of EXISTS: tables are append-only, so a row can make it true any time."""
    return Trend.RISING if inside in _GAINS else Trend.CHANGING


def _growing(aggregate: n.Aggregate | NormalAggregate, at_arrival: bool) -> str:
    """Return MAX for an aggregate that only rises, as one without TERMINATE; else its function.

    UDAs without TERMINATE are non-blocking [Law11 §5], if rows count ``at_arrival``:
    one that counts later comes between others, and all that follow it is computed anew.
    """
    fold = aggregate.term
    rises = at_arrival and isinstance(fold, n.Fold) and only_grows(fold.definition)
    return "MAX" if rises else aggregate.function


def _compared(function: str, op: str, rows: Trend) -> Trend:
    """Return the trend of an aggregate's comparison, given that of there being some row.

    Where rows are only added, COUNT and MAX only rise and MIN only falls.  MAX and MIN of no
    rows are NULL, so the comparison that they fail in the end can turn true before.
    """
    match function, op:
        case _ if rows not in _GAINS:
            return Trend.CHANGING
        case ("COUNT" | "MAX", ">" | ">=") | ("MIN", "<" | "<="):
            return Trend.RISING
        case ("COUNT", "<" | "<="):
            return Trend.FALLING
    return Trend.CHANGING
