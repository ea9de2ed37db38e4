"""Backtest a filter: replay it over a window that has passed, as if it had been there.

A kept filter is one that began at the window's start, from then on; of a live one all changes of
its answer.  Votes and replies count from when they came, so what it delivers is what it would have
delivered then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tapestry.run.ask import Question
from tapestry.run.changes import change_windows
from tapestry.run.execute import execute
from tapestry.run.resources import EngineOn
from tapestry.tables.delta.log import Tables, snapshot


@dataclass(frozen=True, slots=True)
class BacktestDelivery:
    """A message that would have entered a filter's list, or left it, at an instant."""

    msgid: str
    op: Literal["insert", "delete"]
    at: int


def backtest(
    engine_on: EngineOn,
    tables: Tables,
    question: Question,
    since: int,
    *,
    live: bool = False,
) -> list[BacktestDelivery]:
    """Return what a filter would have delivered after ``since``, up to the question's ``at``.

    The newest are first.
    """
    subscription = question.subscription("general" if live else "fast", since)
    engine = engine_on(snapshot(tables))
    with engine.limit(question.seconds):
        if live:
            changes = change_windows(engine, [subscription], [question.at], net=False)[0]
            deliveries = [
                BacktestDelivery(change.msgid, change.op, change.at)
                for change in changes
                if change.op != "update"
            ]
        else:
            deliveries = [
                BacktestDelivery(match.msgid, "insert", match.matched_at)
                for match in execute(engine, [subscription], question.at, lambda _: set())
            ]
    return sorted(deliveries, key=lambda delivery: (-delivery.at, delivery.msgid))
