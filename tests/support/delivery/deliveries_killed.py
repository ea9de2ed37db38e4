"""A campaign: workers deliver, and are killed again and again, while new matches are stored."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import F, Q

from filters.inbox.models import Match, is_due
from tests.support.delivery.delivered_people import People, Servers
from tests.support.delivery.deliveries_received import servable
from tests.support.delivery.workers import OF_BEAT, STEPS
from tests.support.paths import ROOT
from tests.support.servers.http_recorder import LOOPBACK, Reply

ROLES = ("beat", "beat", "worker", "worker")
STEP_SECONDS = 180.0
"""Seconds in which a worker must have come to the step at which it ends."""

QUIET_SECONDS = 300.0
"""Seconds in which all must be delivered at the end."""


@dataclass
class Workers:
    """Two that release and two that deliver: real processes, which can be killed."""

    program: subprocess.Popen[str]
    fault: str = ""
    numbers: list[int] = field(default_factory=list)

    def start(self, role: str, step: str = "", after: int = 1) -> int:
        """Start a worker, which may end at a step; return the number of its process."""
        order = {"role": role, "step": step, "after": after, "fault": self.fault}
        self.program.stdin.write(json.dumps(order) + "\n")
        self.program.stdin.flush()
        return int(self.program.stdout.readline())

    def start_all(self) -> None:
        self.numbers = [self.start(role) for role in ROLES]

    def kill(self, place: int) -> None:
        """Kill a worker wherever it is, and start it again."""
        end(self.numbers[place])
        self.numbers[place] = self.start(ROLES[place])

    def pause(self, place: int, seconds: float) -> None:
        """Stop a worker wherever it is; it goes on after so many seconds, if it is there still."""
        number = self.numbers[place]
        os.kill(number, signal.SIGSTOP)
        threading.Timer(seconds, _go_on, [number]).start()

    def kill_at(self, step: str, after: int, meanwhile: Callable[[], None]) -> bool:
        """Have the only worker of its role end at a step; return whether it came there.

        ``meanwhile`` is called while it is waited for: it stores what leads to the step.
        """
        role = "beat" if step in OF_BEAT else "worker"
        places = [place for place, each in enumerate(ROLES) if each == role]
        for place in places:
            end(self.numbers[place])
        number = self.start(role, step, after)
        deadline = time.monotonic() + STEP_SECONDS
        while is_alive(number) and time.monotonic() < deadline:
            meanwhile()
            time.sleep(0.2)
        came = not is_alive(number)
        end(number)
        for place in places:
            self.numbers[place] = self.start(role)
        return came


def _go_on(number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGCONT)


def is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def end(number: int) -> None:
    """Kill a process and wait until it is gone: its parent, which waits for nobody, is another."""
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)
    while is_alive(number):
        time.sleep(0.002)


@contextmanager
def running_workers(servers: Servers, log: Path, fault: str = "") -> Iterator[Workers]:
    """Run the program that starts workers, on the database and the data of this test."""
    environment = os.environ | {
        "TAPESTRY_DATA": str(settings.DATA),
        "SECRET_KEY": str(settings.SECRET_KEY),
        "EMAIL_URL": servers.smtp.url,
        "TAPESTRY_PRIVATE_HOSTS": ",".join(LOOPBACK),
        "PYTHONPATH": str(ROOT),
    }
    database = str(connection.settings_dict["NAME"])
    with log.open("wb") as words:
        program = subprocess.Popen(
            [sys.executable, "-m", "tests.support.delivery.workers", database],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
        )
    workers = Workers(program, fault)
    try:
        workers.start_all()
        yield workers
    finally:
        for number in workers.numbers:
            end(number)
        program.stdin.close()
        program.wait(60)
        program.stdout.close()


def run_campaign(
    people: People,
    workers: Workers,
    kills: int,
    looks: Sequence[Callable[[], None]],
    steps: Sequence[str] = (),
) -> None:
    """Kill workers so often, half of them at a random moment and half at a step, then let all end.

    Meanwhile matches are stored, servers misbehave, and other workers pause for up to a second.
    With ``steps``, workers end only at these.  ``looks`` are called after each kill: what reads
    with a cursor goes on.
    """
    chance = people.chance
    people.store(30)
    for number in range(kills):
        if number == kills // 4:
            people.subscribe()
        people.store(chance.randint(2, 6))
        people.leave_and_return()
        if not steps:
            _misbehave(people.servers, chance)
        if steps or number % 2:
            step = chance.choice(steps or tuple(STEPS))
            _kill_at(people, workers, step)
        else:
            paused, killed = chance.sample(range(len(ROLES)), 2)
            time.sleep(chance.uniform(0.0, 0.3))
            workers.pause(paused, chance.uniform(0.1, 1.0))
            workers.kill(killed)
        _behave(people.servers)
        for look in looks:
            look()
    _wait_until_quiet()
    for look in looks:
        look()


def _kill_at(people: People, workers: Workers, step: str) -> None:
    after, began = people.chance.randint(1, 3), time.monotonic()

    def store() -> None:
        people.store(1)
        if step == "failed":
            people.servers.smtp.rcpt = "450 busy"
        elif time.monotonic() > began + 1.0:
            _behave(people.servers)  # else a worker may never come there

    came = workers.kill_at(step, after, store)
    assert came or workers.fault, f"no worker came to: {step}"


def _misbehave(servers: Servers, chance: random.Random) -> None:
    """Have a server answer as it should not, for a while."""
    fault = chance.choice(["", "", "rcpt", "data", "cut", "hang", "http", "http cut", "imap"])
    if fault == "rcpt":
        servers.smtp.rcpt = "450 busy"
    elif fault == "data":
        servers.smtp.data = "451 later"
    elif fault in ("cut", "hang"):
        servers.smtp.after_data = fault
    elif fault.startswith("http"):
        servers.http.replies = [Reply(0 if "cut" in fault else 500)]
    elif fault == "imap":
        servers.imap.hang_up()
        servers.imap.cuts.append(chance.randrange(3000))


def _behave(servers: Servers) -> None:
    servers.smtp.rcpt = servers.smtp.data = servers.smtp.after_data = ""
    servers.http.replies = [Reply()]


def _wait_until_quiet() -> None:
    """Wait until nothing is to be released, and nothing to be delivered."""
    unreleased = Match.objects.filter(is_due(), sequence=None)
    busy = servable().filter(~Q(holder="") | Q(latest__gt=F("cursor")) | Q(due_at__isnull=False))
    deadline = time.monotonic() + QUIET_SECONDS
    while unreleased.exists() or Match.objects.filter(later()).exists() or busy.exists():
        waiting = list(busy.values("kind", "cursor", "latest", "holder", "error", "due_at"))
        assert time.monotonic() < deadline, waiting
        time.sleep(0.05)


def later() -> Q:
    """Return the condition that a match is to be shown in a moment."""
    return Q(card__subject__startswith="later", sequence=None)
