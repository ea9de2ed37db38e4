"""Play a world from its seed, and judge it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

SPARK_EVERY = 10
"""The seeds that it divides play on a Spark."""


@dataclass
class Result:
    """How a world went: the findings are sentences, none if it was all right.

    ``pairs`` are what met what in it (``coverage.py``); ``reached`` the planted faults whose places
    it came by, if that was watched.
    """

    seed: int
    steps: int
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    judging: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    pairs: list[str] = field(default_factory=list)
    digest: str = ""
    reached: list[str] = field(default_factory=list)


def play_one(
    seed: int,
    steps: int,
    directory: Path,
    template: Path,
    trace: Path | None = None,
    plant: Callable[[], None] | None = None,
    spark: str = "",
    *,
    kills: bool = False,
    parts: int = 0,
) -> Result:
    """Play a world and judge it; ``plant`` is called in each process of its site.

    With one, the world ends with the first error.  Every tenth seed plays on the Spark, if there
    is one.  With ``kills`` the site ends at one of its writes in most steps.  The shared window has
    so many ``parts``, by lot if 0.
    """
    from tests.simulation.budgets import budgets_of
    from tests.simulation.coverage import met
    from tests.simulation.generator.schedule import play
    from tests.simulation.history import line
    from tests.simulation.judging import Judge
    from tests.simulation.world import World

    started = time.perf_counter()
    engine = spark if seed % SPARK_EVERY == 0 else ""
    place = directory / f"world-{seed}-{id(plant):x}"
    world = World(seed, place, template, plant, engine, parts, budgets_of(seed))
    judge = Judge(world.history)
    result = Result(seed, steps)
    if plant is not None:
        _end_with_errors(world.history, judge)
    try:
        play(world, steps, judge, kills=kills)
    except judge.Found:
        judge.look_for_errors()
    except BaseException:
        judge.look_for_errors()  # what the site did wrong comes before what came of it here
        if not judge.findings:
            result.findings.append(f"the simulation failed: {traceback.format_exc()}")
    finally:
        world.close()
    entries: list[dict[str, Any]] = world.history.entries
    result.reached = [entry["name"] for entry in entries if entry["what"] == "reached"]
    lines = [line(entry) for entry in entries if entry["what"] != "reached"]
    result.findings += judge.findings
    result.digest = sha256("\n".join(lines).encode()).hexdigest()[:16]
    result.judging = judge.seconds
    result.seconds = time.perf_counter() - started
    result.counts = judge.counts(world.history)
    result.pairs = sorted(met(entries))
    if trace is not None:
        trace.mkdir(parents=True, exist_ok=True)
        (trace / f"{seed}.jsonl").write_text("\n".join(lines) + "\n")
    return result


def _end_with_errors(history: Any, judge: Any) -> None:
    from tests.simulation.judging import wrong

    add = history.add

    def added(what: str, **fields: Any) -> Any:
        entry = add(what, **fields)
        if wrong(entry):
            raise judge.Found
        return entry

    history.add = added


def shown(result: Result) -> str:
    """Return the line of a world."""
    counts = " ".join(f"{name}={number}" for name, number in result.counts.items())
    head = f"seed {result.seed}: {'RED' if result.findings else 'ok'}"
    line = (
        f"{head} ({result.seconds:.1f} s, judged {result.judging:.1f} s, {result.digest}) {counts}"
    )
    return "\n    ".join([line, *result.findings])
