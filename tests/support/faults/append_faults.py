"""Processes that append, compact and run at once, and one fault among them.

Two sources are taken in, each from its cursor on, by a process that one fault ends or hinders;
it is started again until it is done.  Meanwhile another compacts and extends the index, and
one runs windows and writes down what it saw in each.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import resource
import signal
import time

from tapestry.core.clock import BEGINNING, HOUR, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.read.find import by_time
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import Cursor, advance_watermark, append_messages, cursor_of
from tapestry.tables.write.compact import compact, compact_small_files
from tests.support.clocks import FileClock
from tests.support.faults.append_steps import STEPS, acting_after

MESSAGES, BATCH = 20, 4
FAULTS = ("die", "die", "full disk", "clock steps back", "killed", "runner killed")

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.support.faults.append_faults"])


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def append_source(root, source, fault, place, at):
    """Append a source from its cursor on; the fault strikes at a batch and a step of it."""
    tables, clock = Tables(root), FileClock(root / "clock")
    reached = cursor_of(tables, source)
    back = 0
    for begin in range(reached.version if reached else 0, MESSAGES, BATCH):
        struck = fault is not None and begin >= at
        if struck and fault == "clock steps back":
            back = HOUR
        if struck and fault == "full disk":
            resource.setrlimit(resource.RLIMIT_FSIZE, (200 * (1 + at % 9), resource.RLIM_INFINITY))
        some = [f"{source}{n}" for n in range(begin, begin + BATCH)]
        step = place if struck and fault == "die" else None
        try:
            with acting_after(step, die, clock) as dying:
                append_messages(
                    tables,
                    dying,
                    [Message(msgid, inreplyto="both0", body="text") for msgid in [*some, "both0"]],
                    Cursor(source, begin + BATCH),
                    now=lambda back=back: wall_clock() - back,
                    originals=[Original(name.encode()) for name in [*some, "both0"]],
                )
        except (TapestryError, OSError):
            os._exit(3)  # the disk was full: what is left is for the next attempt
        if fault is not None:
            time.sleep(0.01)


def tidy(root):
    while True:
        compact_small_files(Tables(root), most=2)
        compact(Tables(root), keep_hours=24)
        extend_index(Tables(root), "messages")
        time.sleep(0.1)


def run(root):
    while True:
        one_run(root)
        time.sleep(0.05)


def one_run(root):
    """Run the window from where the last one that was written down ended."""
    log = root / "runs"
    lines = [line for line in log.read_text().split("\n")[:-1] if line] if log.exists() else []
    since = json.loads(lines[-1])["until"] if lines else BEGINNING
    tables = Tables(root)
    until = advance_watermark(tables, FileClock(root / "clock"))
    found = by_time(snapshot(tables).messages, "messages", [(since, until)], ["msgid"])
    line = json.dumps({"since": since, "until": until, "seen": found["msgid"].to_pylist()}) + "\n"
    with log.open("ab") as file:
        os.write(file.fileno(), line.encode())


def struck_once(root, seed):
    """Let one fault strike, and all be done again that it undid."""
    chance = random.Random(seed)
    fault, place = FAULTS[seed % len(FAULTS)], chance.choice(STEPS)
    at = chance.randrange(0, MESSAGES, BATCH)
    Tables(root).open("messages")
    (root / "clock").touch()
    tidier = processes.Process(target=tidy, args=(root,), daemon=True)
    runner = processes.Process(target=run, args=(root,), daemon=True)
    other = processes.Process(target=append_source, args=(root, "b", None, "", 0))
    first = processes.Process(target=append_source, args=(root, "a", fault, place, at))
    for process in (tidier, runner, other, first):
        process.start()
    if fault in ("killed", "runner killed"):
        time.sleep(chance.random() * 0.3)
        (first if fault == "killed" else runner).kill()
    first.join(240)
    if fault in ("die", "full disk"):
        assert first.exitcode != 0, "the fault struck"
    runner.kill() if chance.random() < 0.5 else tidier.kill()
    again = processes.Process(target=append_source, args=(root, "a", None, "", 0))
    again.start()
    again.join(240)
    other.join(240)
    assert (again.exitcode, other.exitcode) == (0, 0)
    for process in (tidier, runner):
        process.kill()
        process.join(240)
