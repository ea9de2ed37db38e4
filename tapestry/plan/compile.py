"""Text to plans, through every stage; the plans of stored filters are kept (a plan cache)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tapestry.core.ports import DueFilter
from tapestry.plan.signature import Signature, signature
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import placed
from tapestry.rewrite.pipeline import MOST_PLANS, Strategy, rewrite, too_many_plans
from tapestry.rewrite.stages import IncrementalDisjunct, IncrementalQuery


@dataclass(frozen=True, slots=True)
class Plan:
    """One disjunct of a filter; those of one signature are run together."""

    disjunct: IncrementalDisjunct
    signature: Signature


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of compiling a filter's text, once: a plan for each disjunct."""

    checked: n.CheckedQuery
    query: IncrementalQuery
    plans: tuple[Plan, ...]

    @property
    def key(self) -> str:
        """Return what is equal for filters that differ only in constants."""
        return "\n".join(plan.signature.key for plan in self.plans)


def compile_filter(
    text: str, context: Context, strategy: Strategy = "fast", *, waits: bool = False
) -> Compiled:
    """Return the plans of a filter; raises TapestryError where the text is at fault."""
    return compile_query(read(text, context), strategy, waits=waits)


def compile_due(due_filter: DueFilter) -> Compiled:
    """Return the plans of a stored filter, compiled once; raises TapestryError if it has none.

    >>> due_filter = DueFilter(1, "about lunch", "terry", (), ("public",), since=0, start=None)
    >>> compile_due(due_filter) is compile_due(due_filter)
    True
    """
    waits = due_filter.completeness is not None
    owner, addresses, live = due_filter.owner, due_filter.addresses, due_filter.live
    return compile_stored(due_filter.text, owner, addresses, live, waits)


@lru_cache(maxsize=10_000)
def compile_stored(
    text: str, owner: str | None, addresses: tuple[str, ...], live: bool, waits: bool = False
) -> Compiled:
    """Return the plans of a filter in which every filter that it referred to is written out.

    It refers to nothing else, so that its text and its owner determine its plans.
    """
    strategy: Strategy = "general" if live else "fast"
    return compile_filter(text, Context(owner, addresses), strategy, waits=waits)


def compile_query(
    checked: n.CheckedQuery, strategy: Strategy = "fast", *, waits: bool = False
) -> Compiled:
    """Return the plans of a checked filter."""
    with placed(checked.text):
        query = rewrite(checked, strategy, waits=waits)
        return Compiled(checked, query, _plans(query))


def _plans(query: IncrementalQuery) -> tuple[Plan, ...]:
    """Return a plan for each disjunct; raises TapestryError as soon as they are too many."""
    if any(len(disjunct.delta_queries) > MOST_PLANS for disjunct in query.disjuncts):
        raise too_many_plans()
    plans: list[Plan] = []
    sizes: dict[str, int] = {}
    for disjunct in query.disjuncts:
        plans.append(Plan(disjunct, signature(disjunct)))
        sizes[plans[-1].signature.key] = len(disjunct.delta_queries)
        if sum(sizes.values()) > MOST_PLANS:
            raise too_many_plans()
    return tuple(plans)
