"""Deliveries that are put off: for a rest, for failures, for an hour or a day of many; no more.

What waits for another instant waits for ever, should nothing make it due again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.simulation.auditor.budgets import Budgets
from tests.simulation.auditor.findings import Finding, when
from tests.simulation.auditor.story import Entry, Known, Point
from tests.simulation.auditor.timing import MINUTE, is_resting, shown_at

LAW = "put off"

FIRST, LONGEST = MINUTE // 2, 360 * MINUTE
"""How long the first failure is waited for at most, and any: each after it twice as long.

Our own mail server is waited for as long as may be, once it has failed for days.
"""

MAIL = ("digest", "forward")
LIMITED = ("digest", "push")
"""Kinds of which so many are sent in an hour, and no more."""


def judge_put_off(
    point: Point, known: Known, destinations: Iterable[Entry], latest: int, budgets: Budgets
) -> Iterator[Finding]:
    """Judge until when deliveries wait, unless the clock was set back from ``latest``."""
    if point.now < latest:
        return
    states = {row["key"]: row for row in point.rows("destinations") or []}
    aside = {row["key"] for row in point.rows("asides") or [] if row["kind"] == "destination"}
    for entry in destinations:
        state = states.get(entry["key"])
        person, end = known.people.get(entry["person"]), point.now
        if state is None or person is None or not state["active"]:
            continue
        failures = state["failures"]
        if failures and entry["kind"] != "mailbox" and str(entry["key"]) not in aside:
            tried = FIRST * 2 ** (failures - 1)
            end += LONGEST if entry["kind"] in MAIL else min(LONGEST, tried)
        elif failures or state["error"]:
            continue
        if budgets.may_be_over(entry["person"], entry, point.now):
            end = max(end, point.now + 60 * MINUTE)
        if is_resting(person, end):
            end = shown_at("at once", person, end)
        if entry["kind"] in LIMITED:
            end = max(end, point.now + 60 * MINUTE)
        if (state["due_at"] or 0) > end:
            sentence = f"the {entry['kind']} {entry['key']} waits until {when(state['due_at'])}"
            yield Finding(LAW, f"{sentence}, for no reason after {when(end)}", point.step)
