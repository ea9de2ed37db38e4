"""Replay filters over tables in files, window by window, with neither database nor services."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal as OneOf

from tapestry.core.clock import BEGINNING, format_instant
from tapestry.core.errors import TapestryError
from tapestry.core.ports import Change, Match
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tapestry.rewrite.pipeline import Strategy
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute_windows
from tapestry.run.replay_files import read_filters, read_snapshot
from tapestry.run.resources import EngineOn

Deltas = OneOf["transactional", "compressed"]
"""Every change in order, or the difference between the ends of each window."""


def replay(
    engine_on: EngineOn,
    data: Path,
    filters: Path,
    instants: Sequence[int],
    strategy: Strategy = "fast",
    deltas: Deltas | None = None,
) -> Iterator[dict[str, object]]:
    """Yield details the filters deliver in the windows that end at the instants.

    Filters that do not compile come first, as ``{"filter", "error", "at"}``; then a
    ``{"filter", "msgid", "matched_at", "run"}`` for each match, in the order of run,
    filter, matched_at and msgid.  With ``deltas``, details the answers of live filters gain and
    lose instead: ``{"filter", "msgid", "op", "at", "run"}``.  Raises TapestryError for files
    that cannot be read.
    """
    if any(later <= earlier for earlier, later in pairwise(instants)):
        raise TapestryError("The instants of --at must increase.", hint="Write --at T1,T2,T3.")
    lines = read_filters(filters)
    texts = {(line.owner, str(line.id)): line.text for line in reversed(lines)}
    plans = {}
    for number, line in enumerate(lines):
        try:
            context = Context(line.owner, (), partial(_resolve, texts, line.owner))
            plans[number] = compile_filter(line.text, context, "general" if deltas else strategy)
        except TapestryError as error:
            yield {"filter": line.id, "error": error.message, "at": error.offset}
    with tempfile.TemporaryDirectory(prefix="tapestry-replay-") as directory:
        engine = engine_on(read_snapshot(data, Path(directory)))
        subscriptions = [
            Subscription(number, plan, lines[number].audiences, BEGINNING)
            for number, plan in plans.items()
        ]
        runs: Sequence[Sequence[Match | Change]] = (
            change_windows(engine, subscriptions, instants, net=deltas == "compressed")
            if deltas
            else execute_windows(engine, subscriptions, instants)
        )
        for run, deliveries in enumerate(runs):
            named = [(lines[delivery.filter_id].id, delivery) for delivery in deliveries]
            for name, delivery in sorted(named, key=_order):
                at = format_instant(_instant(delivery))
                details = (
                    {"matched_at": at}
                    if isinstance(delivery, Match)
                    else {"op": delivery.op, "at": at}
                )
                yield {"filter": name, "msgid": delivery.msgid, **details, "run": run}


def _order(named: tuple[str | int, Match | Change]) -> tuple[bool, int, str, int, str]:
    """Return numbers before texts, and the deliveries of a filter by instant and msgid."""
    name, delivery = named
    number, text = (name, "") if isinstance(name, int) else (0, name)
    return isinstance(name, str), number, text, _instant(delivery), delivery.msgid


def _instant(delivery: Match | Change) -> int:
    return delivery.matched_at if isinstance(delivery, Match) else delivery.at


def _resolve(
    texts: Mapping[tuple[str | None, str], str], asking: str | None, owner: str | None, name: str
) -> str:
    wanted = asking if owner is None else owner
    if (wanted, name) not in texts:
        raise TapestryError(f"There is no filter {name!r} of {wanted!r} in the file.")
    return texts[wanted, name]
