"""The types of the stages; each can only be made by running its stage (``pipeline.py``).

A filter in normal form is an OR of conjunctions (disjunctive normal form; the "standard form" of
[Terry92 §4.2, §4.3]); a conjunction's NOT EXISTS terms are conjunctions again, and the rows
that an aggregate counts are an OR of conjunctions.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne

from tapestry.core.schema import INSTANTS, RETRACTED
from tapestry.query.tree import nodes as n

_COMPARE = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(frozen=True, slots=True)
class Conjunction:
    """EXISTS (bindings: plain AND temporal AND NOT EXISTS … AND having AND top-k tests).

    ``plain`` holds boolean expressions without subqueries and without ``now()``;
    ``temporal_predicates`` comparisons ``now() op e``, op one of ``< <= > >=``, e free of
    ``now()``; ``not_exists`` the insides of NOT EXISTS; ``having_tests`` and ``top_k_tests`` ask
    about aggregates.
    """

    bindings: tuple[n.Binding, ...] = ()
    plain: tuple[n.Condition, ...] = ()
    temporal_predicates: tuple[n.Compare, ...] = ()
    not_exists: tuple[Conjunction, ...] = ()
    having_tests: tuple[HavingTest, ...] = ()
    top_k_tests: tuple[TopKTest, ...] = ()

    @property
    def aggregate_tests(self) -> tuple[HavingTest | TopKTest, ...]:
        """Return the tests of aggregates.

        >>> from tapestry.rewrite.examples import conjunction
        >>> part = conjunction("COUNT(r: r.inreplyto = m.msgid) < 5 AND m.size > 1")
        >>> [type(test).__name__ for test in part.aggregate_tests]
        ['HavingTest']
        """
        return (*self.having_tests, *self.top_k_tests)

    @property
    def nested(self) -> tuple[Conjunction | HavingTest | TopKTest, ...]:
        """Return the tests of rows that the conjunction itself does not bind.

        >>> from tapestry.rewrite.examples import conjunction
        >>> part = conjunction("NOT EXISTS (r: r.size > 1) AND COUNT(r: r.size = m.size) < 5")
        >>> [type(test).__name__ for test in part.nested]
        ['Conjunction', 'HavingTest']
        """
        return (*self.not_exists, *self.aggregate_tests)


@dataclass(frozen=True, slots=True)
class NormalAggregate:
    """``function([DISTINCT] term)`` over the bindings that meet some conjunction of ``rows``.

    With ``last``, over the last of them that it lets count.
    """

    function: str
    distinct: bool
    term: n.Term | None
    bindings: tuple[n.Binding, ...]
    rows: tuple[Conjunction, ...]
    among: n.Among | None = None


@dataclass(frozen=True, slots=True)
class HavingTest:
    """``aggregate op constant``, a test of HAVING; false where the aggregate is NULL."""

    aggregate: NormalAggregate
    op: str
    constant: n.Literal

    def passes_none(self, constant: object) -> bool:
        """Tell whether an aggregate of no rows passes: COUNT is 0, the others are NULL.

        >>> from tapestry.rewrite.examples import conjunction
        >>> (test,) = conjunction("COUNT(r: r.inreplyto = m.msgid) < 5").having_tests
        >>> test.passes_none(5), test.passes_none(0)
        (True, False)
        """
        if self.aggregate.function != "COUNT" or not isinstance(constant, int | float):
            return False
        return bool(_COMPARE[self.op](0, constant))


@dataclass(frozen=True, slots=True)
class TopKTest:
    """``message`` is (or, negated, is not) among the ``limit`` highest by ``aggregate``.

    The messages ranked are those of ``binding`` that meet some conjunction of ``among`` and of
    which the aggregate counts some row.
    """

    message: n.Column
    limit: n.Literal
    binding: n.Binding
    aggregate: NormalAggregate
    among: tuple[Conjunction, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class NormalQuery:
    """OR of conjunctions over the message ``var``; none at all never matches.

    Each has plans of its own, so its constants are numbered from 0, as they stand.
    """

    var: str
    disjuncts: tuple[Conjunction, ...]


@dataclass(frozen=True, slots=True)
class EventPoint:
    """An instant at which truth can change: ``term + shift``, shift in microseconds."""

    term: n.Term
    shift: int = 0

    @property
    def anchor(self) -> tuple[n.Column, int, tuple[tuple[int, n.Literal], ...]] | None:
        """Return (column, constant offset, slotted offsets) if the term is column ± durations.

        >>> from tapestry.rewrite.examples import disjunct
        >>> *_, start = disjunct("m.ts < now() - 1 day").starts
        >>> column, offset, ((sign, duration),) = start.anchor or ()
        >>> column.name, offset, sign, duration.value
        ('ts', 1, 1, 86400000000)
        """
        return _anchor(self.term, self.shift)

    @property
    def waits(self) -> bool:
        """Tell whether it is an instant that the clock of a filter that waits has to reach.

        >>> from tapestry.rewrite.examples import disjunct
        >>> *_, start = disjunct("m.ts < now() - 1 day").starts
        >>> start.waits
        False
        """
        return isinstance(self.term, n.Reached)


def _anchor(
    term: n.Term, shift: int
) -> tuple[n.Column, int, tuple[tuple[int, n.Literal], ...]] | None:
    if isinstance(term, n.Column):
        return term, shift, ()
    if isinstance(term, n.Reached):
        return _anchor(term.term, shift)
    if isinstance(term, n.Arith) and isinstance(term.right, n.Literal) and term.op in "+-":
        inner = _anchor(term.left, shift)
        if inner is None:
            return None
        sign = 1 if term.op == "+" else -1
        return inner[0], inner[1], (*inner[2], (sign, term.right))
    return None


@dataclass(frozen=True, slots=True)
class MonotoneDisjunct:
    """One conjunction as an interval of time per binding: from the last start to the first end.

    A binding of the conjunction's variables satisfies ``plain`` and ``temporal_predicates`` just
    in [max(starts), min(ends)); the starts include the ``ts`` of every variable.
    """

    index: int
    conjunction: Conjunction
    starts: tuple[EventPoint, ...]
    ends: tuple[EventPoint, ...]


@dataclass(frozen=True, slots=True)
class MonotoneQuery:
    """The disjuncts that can hold at all, each with its interval."""

    var: str
    normal: NormalQuery
    disjuncts: tuple[MonotoneDisjunct, ...]


@dataclass(frozen=True, slots=True)
class DeltaQuery:
    """Candidates (message, c) driven by one event point, and the test they must pass at c.

    For each binding of ``bindings`` that satisfies ``plain``, c is the value of ``event``;
    only c in (since, until] with every event point of ``before`` <= c counts.  The candidate is
    a match if some binding of ``test`` holds at c: ``test.temporal_predicates`` with
    ``now()`` = c, and
    every row bound in ``test`` visible at c.  ``evidence`` names the variables whose rows
    show why.
    """

    rule: str
    event: EventPoint
    bindings: tuple[n.Binding, ...]
    plain: tuple[n.Condition, ...]
    before: tuple[EventPoint, ...]
    test: Conjunction
    evidence: tuple[n.Binding, ...]

    @property
    def driver(self) -> tuple[n.Binding, str] | None:
        """Return the binding and its column that alone put the event into a window, if any do.

        The column has bounds, so a slice of the table holds all its rows that matter.

        >>> from tapestry.rewrite.examples import DELIVERED, disjunct
        >>> from tapestry.rewrite.incremental.general import general
        >>> aged = disjunct("m.received < now() - 1 day AND m.date < now()")
        >>> [query.driver and query.driver[1] for query in general(DELIVERED, aged)]
        ['ts', 'received', None]
        """
        anchor = self.event.anchor
        if anchor is None or anchor[0].name not in (*INSTANTS, RETRACTED):
            return None
        var, name = anchor[0].var, anchor[0].name
        return next(binding for binding in self.bindings if binding.var == var), name


@dataclass(frozen=True, slots=True, eq=False)
class IncrementalDisjunct:
    """One disjunct and the delta queries that find its new matches; ``rule`` made them.

    It is equal to itself alone, so that what is derived from it is cached without a walk over it.
    """

    message: n.Binding
    monotone: MonotoneDisjunct
    rule: str
    delta_queries: tuple[DeltaQuery, ...]


@dataclass(frozen=True, slots=True)
class IncrementalQuery:
    """The union of all delta queries over (since, until] holds every new match of a filter."""

    var: str
    normal: NormalQuery
    disjuncts: tuple[IncrementalDisjunct, ...]

    @property
    def delta_queries(self) -> tuple[DeltaQuery, ...]:
        """Return the delta queries of all disjuncts.

        >>> from tapestry.query.context import Context
        >>> from tapestry.query.frontend import read
        >>> from tapestry.rewrite.pipeline import rewrite
        >>> query = rewrite(read("m.size > 1024 OR m.ts < now() - 1 day", Context()))
        >>> [delta_query.rule for delta_query in query.delta_queries]
        ['own_columns', 'age']
        """
        return tuple(
            delta_query for disjunct in self.disjuncts for delta_query in disjunct.delta_queries
        )
