"""The order of the rules, and the only makers of the stages.

This is incremental view maintenance: a filter's matches are a materialized view, kept up to date
by its delta queries from the new rows and the passage of time.

Negation normal form, temporal predicates, disjunctive normal form, intervals, delta queries:

condition ─ push_not ─ expand_in_query ─ isolate_now ─ simplify ─ distribute ─> NormalQuery
conjunction ─ bound_in_time ─> MonotoneQuery
disjunct ─ the first of FAST that applies, else general ─> IncrementalQuery
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import Any
from typing import Literal as OneOf

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import MESSAGES, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import change_children
from tapestry.rewrite.correlation import require_correlated
from tapestry.rewrite.incremental.absent_after_end import absent_after_end
from tapestry.rewrite.incremental.absent_at_start import absent_at_start
from tapestry.rewrite.incremental.age import age
from tapestry.rewrite.incremental.general import general
from tapestry.rewrite.incremental.own_columns import own_columns
from tapestry.rewrite.incremental.positive_join import positive_join
from tapestry.rewrite.monotone.bound_in_time import bound_in_time
from tapestry.rewrite.monotonicity import Monotonicity, analyze
from tapestry.rewrite.normal.distribute import distribute
from tapestry.rewrite.normal.expand_in_query import expand_in_query
from tapestry.rewrite.normal.isolate_now import isolate_now
from tapestry.rewrite.normal.push_not import push_not
from tapestry.rewrite.normal.simplify import simplify
from tapestry.rewrite.normal.wait import wait
from tapestry.rewrite.stages import (
    Conjunction,
    DeltaQuery,
    IncrementalDisjunct,
    IncrementalQuery,
    MonotoneDisjunct,
    MonotoneQuery,
    NormalQuery,
)
from tapestry.rewrite.validity import bound_by_validity

Strategy = OneOf["fast", "general"]
"""Choice of a filter's delta queries: the cheapest that are exact, or the general ones."""

NORMAL: tuple[Callable[[n.Condition], n.Condition], ...] = (
    push_not,
    expand_in_query,
    isolate_now,
    simplify,
)
"""Condition to condition, in this order: a rule may assume what those before it have done.

After ``push_not``, NOT stands only before what cannot take it in; after ``isolate_now``, ``now()``
stands alone.  ``simplify`` is last: all of them leave what it folds.
"""

MOST_PLANS = 256
"""Plans of different shape that one filter may have: all filters wait while they run."""

MOST_DELTA_QUERIES = 16 * MOST_PLANS
"""Delta queries of all disjuncts together, before those of one shape share a plan."""

FastRule = Callable[[n.Binding, MonotoneDisjunct], tuple[DeltaQuery, ...] | None]

FAST: tuple[FastRule, ...] = (
    own_columns,
    age,
    positive_join,
    absent_at_start,
    absent_after_end,
)
"""The fast rules, cheapest first; what none of them takes, ``general`` does."""


def rewrite(
    query: n.CheckedQuery, strategy: Strategy = "fast", *, waits: bool = False
) -> IncrementalQuery:
    """Return a filter's incremental query; with the strategy "general", by the general rule.

    One that ``waits`` has a clock of its own for ``now()``.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> from tapestry.rewrite.examples import show
    >>> show(rewrite(read("m.size > 1024 OR m.ts < now() - 1 day", Context())).delta_queries)
    C is m.ts: m.size > 1024
    C is just after m.ts + 1 day: TRUE
    """
    normalized = normal(query, waits=waits)
    require_correlated(query, normalized)
    return incremental(monotone(normalized), strategy)


def normal(query: n.CheckedQuery, *, waits: bool = False) -> NormalQuery:
    """Return the filter as an OR of ANDs, the constants of each numbered as they stand.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> from tapestry.rewrite.examples import show
    >>> text = "NOT (m.size < 10 OR NOT m.ts > now() - 1 week AND m.list = 'a')"
    >>> show(normal(read(text, Context())).disjuncts)
    m.size >= 10 AND now() < m.ts + 1 week
    m.size >= 10 AND m.list <> 'a'
    """
    condition = query.condition
    for step in (*NORMAL, wait) if waits else NORMAL:
        condition = step(condition)
    disjuncts: tuple[Conjunction, ...] = distribute(condition)
    return NormalQuery(query.var, tuple(_number(disjunct) for disjunct in disjuncts))


def _number(disjunct: Conjunction) -> Conjunction:
    """Give every constant its slot; what shapes a plan (NULL, a substr position) has none.

    The clock of a filter that waits has the same slots wherever it stands.
    """
    slots = count()
    clock: list[n.Literal] = []

    def number(node: Any) -> Any:
        if isinstance(node, n.Reached):
            clock.extend(n.Literal(0, Type.INSTANT, next(slots)) for _ in range(3 - len(clock)))
            since, low, high = clock
            return n.Reached(number(node.term), since, low, high)
        if isinstance(node, n.Literal):
            if node.type is Type.NULL:
                return node
            return n.Literal(node.value, node.type, next(slots), span=node.span)
        if isinstance(node, n.Values):
            return n.Values(node.values, node.type, next(slots), span=node.span)
        if isinstance(node, n.Call) and node.name == "substr":
            text, *positions = node.args
            args = [part if isinstance(part, n.Literal) else number(part) for part in positions]
            return replace(node, args=(number(text), *args))
        return change_children(node, number)

    return change_children(disjunct, number)


def monotone(query: NormalQuery) -> MonotoneQuery:
    """Return the disjuncts with the interval in which each holds, without those that never do.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> query = normal(read("m.size > 1024 OR m.ts > now()", Context()))
    >>> len(query.disjuncts), len(monotone(query).disjuncts)
    (2, 1)
    """
    message = n.Binding(query.var, MESSAGES)
    bounded = (
        bound_in_time(index, message, conjunction)
        for index, conjunction in enumerate(query.disjuncts)
    )
    return MonotoneQuery(
        query.var, query, tuple(disjunct for disjunct in bounded if disjunct is not None)
    )


def incremental(query: MonotoneQuery, strategy: Strategy = "fast") -> IncrementalQuery:
    """Return the delta queries of every disjunct, and which rule made them.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> query = monotone(normal(read("m.size > 1024", Context())))
    >>> [incremental(query, choice).disjuncts[0].rule for choice in ("fast", "general")]
    ['own_columns', 'general']
    """
    message = n.Binding(query.var, MESSAGES)
    disjuncts: list[IncrementalDisjunct] = []
    left = MOST_DELTA_QUERIES
    for disjunct in query.disjuncts:
        delta_queries = _delta_queries(message, disjunct, strategy)
        disjuncts.append(
            IncrementalDisjunct(message, disjunct, delta_queries[0].rule, delta_queries)
        )
        left -= len(delta_queries)
        if left < 0:
            raise too_many_plans()
    return IncrementalQuery(query.var, query.normal, tuple(disjuncts))


@lru_cache(maxsize=10_000)
def while_valid(disjunct: IncrementalDisjunct) -> IncrementalDisjunct:
    """Return a disjunct in which annotations count while they stand; itself if it reads none.

    It finds the same where no annotation was taken back, and has the same constants.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> from tapestry.rewrite.examples import show
    >>> (tagged,) = rewrite(read("tagged later", Context())).disjuncts
    >>> tagged.rule, while_valid(tagged).rule
    ('positive_join', 'positive_join')
    >>> (untagged,) = rewrite(read("not tagged later", Context())).disjuncts
    >>> untagged.rule, while_valid(untagged).rule
    ('absent_at_start', 'absent_after_end')
    """
    conjunction = bound_by_validity(disjunct.monotone.conjunction)
    if conjunction is disjunct.monotone.conjunction:
        return disjunct
    bounded = bound_in_time(disjunct.monotone.index, disjunct.message, conjunction)
    if bounded is None:
        raise ValueError("a disjunct that can hold cannot do so while its annotations stand")
    strategy: Strategy = "general" if disjunct.rule == "general" else "fast"
    delta_queries = _delta_queries(disjunct.message, bounded, strategy)
    return IncrementalDisjunct(disjunct.message, bounded, delta_queries[0].rule, delta_queries)


def too_many_plans() -> TapestryError:
    """Return the error for a filter whose disjuncts are too unlike each other.

    >>> too_many_plans().message
    'This filter would take more than 256 plans to run.'
    """
    return TapestryError(
        f"This filter would take more than {MOST_PLANS} plans to run.",
        Span(0, 1),
        "Install it as several filters.",
    )


def _counts(part: Conjunction) -> bool:
    return bool(part.aggregate_tests) or any(map(_counts, part.not_exists))


def _fast_rules(part: Conjunction) -> Iterable[FastRule]:
    """Return the rules that may take a conjunction: of aggregates, those that only fall."""
    if not _counts(part):
        return FAST
    falls = not part.top_k_tests and analyze(part).monotonicity is Monotonicity.BOUNDED
    return (absent_at_start,) if falls else ()


def _delta_queries(
    message: n.Binding, disjunct: MonotoneDisjunct, strategy: Strategy
) -> tuple[DeltaQuery, ...]:
    if len(disjunct.starts) > MOST_PLANS:  # each has a delta query, which names all others
        raise too_many_plans()
    for fast in _fast_rules(disjunct.conjunction) if strategy == "fast" else ():
        delta_queries = fast(message, disjunct)
        if delta_queries is not None:
            return delta_queries
    return general(message, disjunct)
