"""Evaluate one filter on public mail: over a window, and over all rows."""

from __future__ import annotations

from functools import cache

from tapestry.core.clock import BEGINNING
from tapestry.core.message import PUBLIC
from tapestry.embedded.engine import EmbeddedEngine
from tapestry.embedded.local_rows import LocalRows
from tapestry.plan.compile import Compiled
from tapestry.plan.engine import Engine, evaluate
from tapestry.plan.lowering.lower import lower_at
from tapestry.plan.validity import groups_while_valid
from tapestry.run.execute import Subscription, execute, signature_groups
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import LOCAL, connect
from tapestry.tables.delta.log import Snapshot

_local_spark = cache(lambda: connect(LOCAL))


def engine_on(seen: Snapshot) -> Engine:
    """Return an engine on a snapshot; it starts a local Spark when that is needed first."""
    return EmbeddedEngine(LocalRows(seen), lambda: SparkEngine(_local_spark(), seen))


def match_count(engine: Engine, compiled: Compiled, since: int, until: int) -> int:
    """Return how many matches a filter has in a window, by its incremental query."""
    subscription = Subscription(1, compiled, (PUBLIC,), since)
    return len(execute(engine, [subscription], until, lambda pairs: set()))


def answer_count(engine: Engine, compiled: Compiled, at: int) -> int:
    """Return how many messages satisfy a filter at an instant, by the query over all rows."""
    subscription = Subscription(1, compiled, (PUBLIC,), BEGINNING)
    groups = groups_while_valid(signature_groups([(subscription, at)]), engine.covers)
    return len(evaluate(engine, lower_at(groups, at)))
