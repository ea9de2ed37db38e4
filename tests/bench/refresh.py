"""How long it takes to keep up with the same mail, refreshed more or less often [OracleCQ07].

The experiment "Frequency of Refresh": a join of a foreign key with its primary key ("replied to
in comp.databases"), and a fixed number of transactions.  The more often a query is refreshed, the
fewer rows a refresh has, and the more often its fixed cost is paid.  Where refreshes are many,
some are measured that lie evenly over all, and stand for the others.
"""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from itertools import pairwise
from typing import Any

from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC
from tapestry.tables.delta.log import snapshot
from tests.bench.support import mail
from tests.bench.support.footprint import cpu_timed
from tests.bench.support.texts import PAPER

SUMMARY = "a join kept up to date with the same mail, refreshed more or less often"

FIGURES = {
    "{transactions:,} transactions, refreshed every {every[0]:,}, of {messages:,}": (
        "{ratios[0]:.1f} times a single refresh"
    ),
    "{transactions:,} transactions, refreshed every {every[1]:,}, of {messages:,}": (
        "{ratios[1]:.1f} times a single refresh"
    ),
    "{transactions:,} transactions, refreshed every {every[2]:,}, of {messages:,}": (
        "{ratios[2]:.1f} times a single refresh"
    ),
}

EVERY = (10, 100, 1000, 20, 50, 200, 500, 2000)
"""Transactions of a refresh."""

BATCH = 20
"""Messages of a transaction: they become visible at one instant."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--messages", type=int, default=380_000, help="in the table")
    parser.add_argument("--transactions", type=int, default=7000, help="the newest of them")
    parser.add_argument("--most", type=int, default=20, help="measured refreshes of a frequency")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return processor seconds of all refreshes together, by frequency and for a single one."""
    from tapestry.plan.compile import compile_filter
    from tapestry.query.context import Context
    from tapestry.run.execute import Pair, Subscription, execute
    from tests.bench.support.evaluation import engine_on

    count, transactions = options["messages"], options["transactions"]
    before = count - BATCH * transactions
    if before < BATCH:
        raise TapestryError(f"{transactions:,} transactions have more than {count:,} messages.")
    mail.fill(services.tables(), count, 0)
    plan = compile_filter(PAPER["q3"], Context())

    def refresh(since: int, until: int, delivered: set[Pair]) -> None:
        engine = engine_on(snapshot(services.tables()))
        subscription = Subscription(1, plan, (PUBLIC,), since)
        matches = execute(engine, [subscription], until, delivered.__and__)
        delivered |= {(match.filter_id, match.msgid) for match in matches}

    def seconds(every: int) -> tuple[float, set[Pair] | None]:
        """Return the seconds of all refreshes, and what they found if all were measured."""
        ends = [*range(0, transactions, every), transactions]
        windows = list(pairwise(mail.arrival(before + BATCH * end - 1) for end in ends))
        measured = windows[:: -(-len(windows) // options["most"])]
        delivered: set[Pair] = set()
        spent = [cpu_timed(partial(refresh, *window, delivered))[0] for window in measured]
        total = sum(spent) * len(windows) / len(measured)
        return total, delivered if measured == windows else None

    for every in (transactions, EVERY[0]):
        seconds(every)  # warm
    single, matches = seconds(transactions)
    frequencies = [every for every in EVERY if every < transactions]
    all_seconds = {every: seconds(every) for every in frequencies}
    if any(found not in (None, matches) for _, found in all_seconds.values()):
        raise TapestryError("A frequency finds other messages than a single refresh.")
    return {
        "messages": count,
        "transactions": transactions,
        "matches": len(matches or ()),
        "single_cpu_seconds": round(single, 3),
        "every": frequencies,
        "cpu_seconds": [round(spent, 3) for spent, _ in all_seconds.values()],
        "ratios": [round(spent / single, 2) for spent, _ in all_seconds.values()],
    }
