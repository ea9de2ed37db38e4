"""Faults planted in the product, each alone: by which seed, and by which law, is it found?

    each seed: played without a fault, watched ─> the places that it reaches
               played with each fault there that no earlier seed has found

A world that does not reach the place of a fault would be the same with it, so it is not played.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from tests.simulation.plants import PLANTS
from tests.simulation.plants.plant import Plant, planting, watch
from tests.simulation.pool import in_turn

Play = Callable[..., Any]
"""Plays the world of a seed, with what is called in each process of its site."""


@dataclass
class Search:
    """How the search for a fault went: the seed that found it, or how many could not."""

    name: str
    room: str
    seed: int | None = None
    step: int = 0
    law: str = ""
    finding: str = ""
    reached: int = 0
    """Seeds that reached its place, and were played with it."""


def search(
    plants: Sequence[Plant], seeds: Sequence[int], play: Play, jobs: int, most: int
) -> Iterator[Search]:
    """Yield each fault as it is found, and at the end those that were not.

    After ``most`` worlds that reach its place and do not find it a fault is given up.
    """
    searches = {planted.name: Search(planted.name, planted.room) for planted in plants}
    wanted = {planted.name: planted for planted in plants}
    for seed in seeds:
        if not wanted:
            break
        (plain,) = in_turn(
            [partial(play, seed, plant=partial(_watched, tuple(wanted.values())))], 1
        )
        if plain is None or plain.findings:
            said = plain.findings[0] if plain else "its process ended by itself"
            print(f"seed {seed} is red without a fault: {said[:300]}", file=sys.stderr)
            continue  # nobody could say what found it
        names = [name for name in wanted if name in plain.reached]
        calls = [partial(play, seed, plant=planting(wanted[name])) for name in names]
        for name, result in zip(names, in_turn(calls, jobs), strict=True):
            one = searches[name]
            one.reached += 1
            if result is None or result.findings:
                said = result.findings[0] if result else "the world's process ended by itself"
                one.seed, one.finding = seed, said
                one.step, one.law = _step_and_law(said)
                del wanted[name]
                yield one
            elif one.reached >= most:
                del wanted[name]
                yield one
    for name in wanted:
        yield searches[name]


def _watched(plants: Sequence[Plant]) -> None:
    from tests.simulation import site_mail

    site: Any = site_mail.ask.__self__
    watch(plants, lambda name: site.tell("reached", {"name": name}))


_SAID = re.compile(r"step (\d+): (?:([a-z ]+): )?")
_ERRORS = ("ended with an error", "logged as an error")


def _step_and_law(said: str) -> tuple[int, str]:
    """Return the step and the law of a finding.

    >>> _step_and_law("step 25: matches: m1 is not there")
    (25, 'matches')
    >>> _step_and_law("step 25: filters.tick ended with an error: KeyError: 'ts'")
    (25, 'no error')
    """
    found = _SAID.match(said)
    if found is None:
        return 0, "no error"
    if any(words in said for words in _ERRORS):
        return int(found[1]), "no error"
    return int(found[1]), found[2] or "settled"


def chosen(only: Sequence[str]) -> list[Plant]:
    """Return the faults whose names have one of the texts in them; all if there is none."""
    return [p for p in PLANTS.values() if not only or any(text in p.name for text in only)]


def shown(one: Search, started: float) -> str:
    """Return the line of a search."""
    seconds = f"{time.monotonic() - started:.0f} s"
    if one.seed is not None:
        return f"{seconds} found by seed {one.seed}: {one.name}\n    {one.finding[:300]}"
    how = f"not found in {one.reached} worlds" if one.reached else "never reached"
    return f"{seconds} {how}: {one.name} ({one.room})"


def as_json(searches: Sequence[Search]) -> list[dict[str, Any]]:
    """Return searches in the order of the table, as values of JSON."""
    found = {one.name: one for one in searches}
    return [asdict(found[name]) for name in PLANTS if name in found]
