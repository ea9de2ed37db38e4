"""``make simulate SEEDS=1-100 STEPS=400``: play worlds, judge them, and say how each went."""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.simulation import coverage, planted, readme
from tests.simulation.playing import Result, play_one, shown
from tests.simulation.pool import in_turn
from tests.simulation.template import prepare, worlds_directory


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; return 1 if anything was found, or not found."""
    options = _parser().parse_args(arguments)
    if options.readme:
        readme.write()
        return 0
    directory = worlds_directory()
    try:
        template = prepare(directory)
        for name in ("coverage", "generator.schedule", "judging", "site_mail", "twins", "world"):
            import_module(f"tests.simulation.{name}")
        from tests.simulation.twins import play_twins  # it imports the product

        gc.collect()
        gc.freeze()  # what all worlds share is not looked at, and not copied, by each
        played = play_twins if options.twins else play_one
        play = partial(played, steps=options.steps, directory=directory, template=template)
        if options.planted:
            return _find_planted(options, play)
        with _spark(options, directory) as remote:
            return _play(
                options, partial(play, spark=remote, kills=options.kills, parts=options.parts)
            )
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    add = parser.add_argument
    add("--seeds", default="1-10", help="1-100, or 3,17 (1-10)")
    add("--steps", type=int, default=400, help="steps of each world (400)")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="worlds at a time")
    add("--seconds", type=float, help="play fresh seeds for so long, and not those of --seeds")
    add("--kills", action="store_true", help="end the site at a write in most steps")
    add("--parts", type=int, default=0, help="parts of the shared window (by lot)")
    add("--spark", action="store_true", help="play every tenth seed on a real Spark")
    add("--json", action="store_true", help="print one object for each world")
    add("--trace", type=Path, help="write what happened in each world here")
    add("--coverage", action="store_true", help="print what has met what, and what has not")
    add("--planted", action="store_true", help="plant faults, and say which seed finds each")
    add("--only", action="append", default=[], help="plant those with this in their names")
    add("--unfound", action="store_true", help="plant those alone that were not found yet")
    add("--twins", action="store_true", help="play calm worlds twice, and compare them")
    add("--most", type=int, default=100, help="give a fault up after so many worlds (100)")
    add("--record", action="store_true", help="keep what was found, for README.md")
    add("--readme", action="store_true", help="write the tables of README.md from what is kept")
    return parser


@contextmanager
def _spark(options: Any, directory: Path) -> Iterator[str]:
    """Start a Spark for the worlds that play on one, if that is asked for: yield its address."""
    if not options.spark:
        yield ""
        return
    from tapestry.spark import server

    with server.serving(directory) as remote:
        yield remote


def seeds_of(text: str) -> list[int]:
    """Return the seeds that a text names.

    >>> seeds_of("1-3,17")
    [1, 2, 3, 17]
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def _play(options: Any, play: partial[Result]) -> int:
    seeds = seeds_of(options.seeds)
    results = []
    for result in _fresh(options, play) if options.seconds else _run_all(seeds, options, play):
        results.append(result)
        print(json.dumps(asdict(result)) if options.json else shown(result), flush=True)
    red = [result for result in results if result.findings]
    pairs = {pair for result in results for pair in result.pairs}
    if options.coverage:
        _print_coverage(pairs, as_json=options.json)
    if options.record:
        readme.record_coverage(options.seeds, options.steps, pairs)
    if not options.json:
        seconds = sum(result.seconds for result in results)
        killed = sum(result.counts.get("killed", 0) for result in results)
        said = f"{len(results)} worlds, {len(red)} red, {killed} ends at a write"
        print(f"{said}, {seconds:.0f} s of work")
        if red and options.seconds:
            print(f"red: --seeds {','.join(str(result.seed) for result in red)}")
    return 1 if red else 0


def _run_all(seeds: Sequence[int], options: Any, play: partial[Result]) -> Iterator[Result]:
    """Yield the results of worlds in the order of their seeds, some at a time in processes."""
    worlds = [partial(play, seed, trace=options.trace) for seed in seeds]
    for seed, result in zip(seeds, in_turn(worlds, options.jobs), strict=True):
        yield result or Result(seed, options.steps, ["the world's process ended by itself"])


def _fresh(options: Any, play: partial[Result]) -> Iterator[Result]:
    """Yield the results of seeds that nobody has chosen, until the time is up."""
    end = time.monotonic() + options.seconds
    seeds = random.SystemRandom()
    while time.monotonic() < end:
        yield from _run_all([seeds.randrange(10**9) for _ in range(options.jobs)], options, play)


def _print_coverage(pairs: set[str], *, as_json: bool) -> None:
    missing = coverage.missing(pairs)
    if as_json:
        print(json.dumps({"met": sorted(pairs), "missing": missing}))
        return
    print("\n".join([*coverage.summary(pairs), *(f"never met: {pair}" for pair in missing)]))
    print(f"{len(missing)} of {len(coverage.wanted(coverage.features()))} pairs never met")


def _find_planted(options: Any, play: partial[Result]) -> int:
    plants, started = planted.chosen(options.only), time.monotonic()
    if options.unfound:
        plants = [one for one in plants if one.name not in readme.found()]
    searches = []
    for one in planted.search(plants, seeds_of(options.seeds), play, options.jobs, options.most):
        searches.append(one)
        print(planted.shown(one, started), flush=True)
        if options.record:
            readme.record_planted(options.seeds, options.steps, planted.as_json(searches))
    found = [one for one in searches if one.seed is not None]
    print(f"{len(found)} of {len(plants)} found")
    return 0 if len(found) == len(plants) else 1
