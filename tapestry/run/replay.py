"""Replay filters over tables in files, window by window, with neither database nor services."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal as OneOf

from tapestry.core.clock import BEGINNING, format_instant
from tapestry.core.errors import TapestryError
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import Engine
from tapestry.query.context import Context
from tapestry.rewrite.pipeline import Strategy
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute_windows
from tapestry.run.replay_files import FilterLine, read_filters, read_snapshot
from tapestry.tables.log import Snapshot

Deltas = OneOf["transactional", "compressed"]
"""Every change in order, or the difference between the ends of each window."""


def replay(
    engine_on: Callable[[Snapshot], Engine],
    data: Path,
    filters: Path,
    instants: Sequence[int],
    strategy: Strategy = "fast",
    deltas: Deltas | None = None,
) -> Iterator[dict[str, object]]:
    """Yield what the filters deliver in the windows that end at the instants.

    Filters that do not compile come first, as ``{"filter", "error", "at"}``; then a
    ``{"filter", "msgid", "matched_at", "run"}`` for each match, in the order of run,
    filter, matched_at and msgid.  With ``deltas``, what the answers of live filters gain and
    lose instead: ``{"filter", "msgid", "op", "at", "run"}``.  Raises TapestryError for files
    that cannot be read.
    """
    if any(later <= earlier for earlier, later in pairwise(instants)):
        raise TapestryError("The instants of --at must increase.", hint="Write --at T1,T2,T3.")
    lines = read_filters(filters)
    plans = {}
    for number, line in enumerate(lines):
        try:
            context = Context(line.owner, (), _resolver(lines, line))
            plans[number] = compile_filter(line.text, context, "general" if deltas else strategy)
        except TapestryError as error:
            yield {"filter": line.id, "error": error.message, "at": error.offset}
    with tempfile.TemporaryDirectory(prefix="tapestry-replay-") as directory:
        engine = engine_on(read_snapshot(data, Path(directory)))
        subscriptions = [
            Subscription(number, plan, lines[number].audiences, BEGINNING)
            for number, plan in plans.items()
        ]
        if deltas:
            yield from _deltas(engine, subscriptions, lines, instants, deltas)
            return
        for run, matches in enumerate(execute_windows(engine, subscriptions, instants)):
            for match in sorted(
                matches, key=lambda m: (_order(lines[m.filter_id].id), m.matched_at, m.msgid)
            ):
                yield {
                    "filter": lines[match.filter_id].id,
                    "msgid": match.msgid,
                    "matched_at": format_instant(match.matched_at),
                    "run": run,
                }


def _deltas(
    engine: Engine,
    subscriptions: Sequence[Subscription],
    lines: Sequence[FilterLine],
    instants: Sequence[int],
    deltas: Deltas,
) -> Iterator[dict[str, object]]:
    runs = change_windows(engine, subscriptions, instants, net=deltas == "compressed")
    for run, changes in enumerate(runs):
        for change in sorted(changes, key=lambda c: (_order(lines[c.filter_id].id), c.at, c.msgid)):
            yield {
                "filter": lines[change.filter_id].id,
                "msgid": change.msgid,
                "op": change.op,
                "at": format_instant(change.at),
                "run": run,
            }


def _order(name: str | int) -> tuple[bool, int, str]:
    return (False, name, "") if isinstance(name, int) else (True, 0, name)


def _resolver(lines: Sequence[FilterLine], asking: FilterLine) -> Callable[[str | None, str], str]:
    def resolve(owner: str | None, name: str) -> str:
        wanted = asking.owner if owner is None else owner
        for line in lines:
            if str(line.id) == name and line.owner == wanted:
                return line.text
        raise TapestryError(f"There is no filter {name!r} of {wanted!r} in the file.")

    return resolve
