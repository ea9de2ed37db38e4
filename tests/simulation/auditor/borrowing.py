"""Filters over those of others, and aggregates: only what is shared, and as it is now."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.lives import Life
from tests.simulation.auditor.story import Point

LAW = "borrowing"

_BORROWED = re.compile(r"\bin (\w+)'s (f\d+)\b")
_DEFINED = re.compile(r"(?:\b(\w+)\.)?\b(g\d+)\(")
"""Uses of aggregates by their names."""

_ALONE = re.compile(r"in \w+'s f\d+")
_DATED = re.compile(r"\b(today|yesterday|\w+day|January|February|March|April|May|\d{4})\b")
"""Words of days, which mean another one by when they are read."""


def judge_borrowing(point: Point, lives: dict[int, Life]) -> Iterator[Finding]:
    """Judge the filters that name one of somebody else at a settled point."""
    named = {(life.entry["owner"], life.entry.get("name")): life.entry for life in lives.values()}
    aggregates = {(row["owner"], row["name"]): row for row in point.rows("aggregates") or []}
    for state in point.rows("filters") or []:
        life = lives.get(state["key"])
        if life is None or state["error"]:
            continue
        text, owner = life.entry.get("text") or "", life.entry["owner"]
        for lender, name in _DEFINED.findall(text):
            asked = lender or owner
            defined = aggregates.get((asked, name))
            said = f"the filter {state['key']} of {owner} “{text}” is run, and {name} of {asked}"
            if defined is None or (asked != owner and defined["visibility"] != "shared"):
                yield Finding(LAW, f"{said} is not there for it", point.step)
            elif defined["definition"] not in life.entry["tql"]:
                said += f" means something else by now: {defined['definition']}"
                yield Finding(LAW, f"{said} (TQL: {life.entry['tql']})", point.step)
        for lender, name in _BORROWED.findall(text):
            lent = named.get((lender, name))
            said = f"the filter {state['key']} of {owner} “{text}” is run, and"
            if lent is None:
                yield Finding(LAW, f"{said} {name} of {lender} is not there", point.step)
            elif lender != owner and lent["visibility"] != "shared":
                yield Finding(LAW, f"{said} {lender} does not share {name}", point.step)
            elif (
                _ALONE.fullmatch(text)
                and not _DATED.search(lent.get("text") or "")
                and life.entry["tql"] != lent["tql"]
            ):
                said += f" {name} of {lender} means something else by now: {lent['tql']}"
                yield Finding(LAW, f"{said} (TQL: {life.entry['tql']})", point.step)
