"""``make simulate SEEDS=1-100 STEPS=400``: play worlds, judge them, and say how each went."""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from simulation.template import prepare, worlds_directory


@dataclass
class Result:
    """How a world went: the findings are sentences, none if it was all right."""

    seed: int
    steps: int
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    judging: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    pairs: list[str] = field(default_factory=list)
    digest: str = ""


def main(arguments: Sequence[str]) -> int:
    """Play the worlds of the command line; return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", default="1-10", help="1-100, or 3,17 (1-10)")
    parser.add_argument("--steps", type=int, default=400, help="steps of each world (400)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worlds at a time")
    parser.add_argument("--json", action="store_true", help="print one object for each world")
    parser.add_argument("--trace", type=Path, help="write what happened in each world here")
    parser.add_argument("--keep-going", action="store_true", help="judge on after a finding")
    options = parser.parse_args(arguments)
    directory = worlds_directory()
    try:
        template = prepare(directory)
        gc.collect()
        gc.freeze()  # what all worlds share is not looked at, and not copied, by each
        results = []
        for result in run_all(seeds_of(options.seeds), options, directory, template):
            results.append(result)
            print(json.dumps(asdict(result)) if options.json else shown(result), flush=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    red = [result for result in results if result.findings]
    if not options.json:
        seconds = sum(result.seconds for result in results)
        print(f"{len(results)} worlds, {len(red)} red, {seconds:.0f} s of work")
    return 1 if red else 0


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


def run_all(
    seeds: Sequence[int], options: Any, directory: Path, template: Path
) -> Iterator[Result]:
    """Yield the results of worlds in the order of their seeds, some at a time in processes."""
    waiting, running = list(seeds), dict[Connection, tuple[int, int]]()
    done: dict[int, Result] = {}
    for seed in seeds:
        while seed not in done:
            while waiting and len(running) < options.jobs:
                pipe, process = _start(waiting[0], options, directory, template)
                running[pipe] = (waiting.pop(0), process)
            for pipe in wait(list(running)):
                ended, process = running.pop(pipe)  # type: ignore[index]
                try:
                    done[ended] = pipe.recv()  # type: ignore[union-attr]
                except EOFError:
                    done[ended] = Result(ended, 0, ["the world's process ended by itself"])
                os.waitpid(process, 0)
        yield done.pop(seed)


def _start(seed: int, options: Any, directory: Path, template: Path) -> tuple[Connection, int]:
    ours, theirs = Pipe()
    process = os.fork()
    if process == 0:
        try:
            ours.close()
            theirs.send(play_one(seed, options.steps, directory, template, options.trace))
        except BaseException:
            theirs.send(Result(seed, 0, [f"the simulation failed: {traceback.format_exc()}"]))
        finally:
            sys.stdout.flush()
            os._exit(0)
    theirs.close()
    return ours, process


def play_one(
    seed: int,
    steps: int,
    directory: Path,
    template: Path,
    trace: Path | None = None,
    plant: Any = None,
) -> Result:
    """Play a world and judge it."""
    from hashlib import sha256

    from simulation.generator.schedule import play
    from simulation.history import line
    from simulation.judging import Judge
    from simulation.world import World

    started = time.perf_counter()
    world = World(seed, directory / f"world-{seed}", template, plant)
    judge = Judge(world.history)
    result = Result(seed, steps)
    try:
        play(world, steps, judge)
    except judge.Found:
        pass
    except BaseException:
        result.findings.append(f"the simulation failed: {traceback.format_exc()}")
    finally:
        world.close()
    lines = [line(entry) for entry in world.history.entries]
    result.findings += judge.findings
    result.digest = sha256("\n".join(lines).encode()).hexdigest()[:16]
    result.judging = judge.seconds
    result.seconds = time.perf_counter() - started
    result.counts = judge.counts(world.history)
    if trace is not None:
        trace.mkdir(parents=True, exist_ok=True)
        (trace / f"{seed}.jsonl").write_text("\n".join(lines) + "\n")
    return result


def shown(result: Result) -> str:
    """Return the line of a world."""
    counts = " ".join(f"{name}={number}" for name, number in result.counts.items())
    head = f"seed {result.seed}: {'RED' if result.findings else 'ok'}"
    line = (
        f"{head} ({result.seconds:.1f} s, judged {result.judging:.1f} s, {result.digest}) {counts}"
    )
    return "\n    ".join([line, *result.findings])
