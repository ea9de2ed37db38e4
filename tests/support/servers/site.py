"""The product as a person starts it: `manage.py up` on a data directory of its own."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tapestry.core.processes.child_process import free_port
from tests.support.paths import ROOT
from tests.support.processes import forked


@dataclass
class Site:
    """A running `manage.py up` on a data directory of its own."""

    data: Path
    url: str
    process: subprocess.Popen
    log_name: str = "up.log"

    @property
    def log(self) -> Path:
        """What `up` prints."""
        return self.data / self.log_name

    def manage(self, *arguments: str, **environment: str) -> str:
        """Run another command on the same data and return what it prints."""
        return manage(self.data, *arguments, **environment)

    def ended(self) -> tuple[int, str]:
        """Wait for it to end by itself; return its exit code and all it printed."""
        return self.process.wait(180), self.log.read_text()


def manage(data: Path, *arguments: str, **environment: str) -> str:
    done = forked.run(
        ["manage.py", *arguments],
        cwd=ROOT,
        env=environment_for(data) | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment_for(data: Path) -> dict[str, str]:
    """The environment without anything that would name parts of somebody else's."""
    theirs = ("REDIS_URL", "SPARK_REMOTE", "DATABASE_URL")
    kept = {name: value for name, value in os.environ.items() if name not in theirs}
    # The first preview meets a Spark that has just started, on a machine with other tests.
    patient = {"TAPESTRY_PREVIEW_SECONDS": "300", **kept}
    return patient | {"TAPESTRY_DATA": str(data), "TAPESTRY_TICK": "1"}


def start(
    data: Path,
    *arguments: str,
    command: str = "up",
    port: int | None = None,
    inside: Sequence[str] = (),
    **environment: str,
) -> Site:
    """Start `up` and return at once; its words go to DATA/up.log, or up-MACHINE.log.

    ``inside`` begins the command, where it runs elsewhere than here.
    """
    port = port or free_port()
    machine = environment.get("TAPESTRY_MACHINE")
    name = f"up-{machine}.log" if machine else "up.log"
    with (data / name).open("wb") as log:
        process = subprocess.Popen(
            [*inside, sys.executable, "manage.py", command, "--port", str(port), *arguments],
            cwd=ROOT,
            env=environment_for(data) | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # Ctrl-C stops it, though these tests may run in the background of a shell.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
    return Site(data, f"http://127.0.0.1:{port}/", process, name)


def wait_ready(site: Site, seconds: float = 300) -> str:
    """Wait for the line that says so; return all that was printed."""
    deadline = time.monotonic() + seconds
    while f"Tapestry is ready at {site.url}" not in (printed := site.log.read_text()):
        assert site.process.poll() is None, printed
        assert time.monotonic() < deadline, printed
        time.sleep(0.2)
    return printed


def end(site: Site, number: int = signal.SIGINT, *, sets_aside: bool = False) -> int:
    """Stop it by a signal, that of Ctrl-C if no other, and return its exit code.

    Fail if something is set aside in it, unless the test says that it plants what ``sets_aside``.
    Faults of the surroundings (a kill, a full disk, a Spark that is gone) set nothing aside.
    """
    if site.process.poll() is None:
        site.process.send_signal(number)
    try:
        code = site.process.wait(180)
    except subprocess.TimeoutExpired:
        os.killpg(site.process.pid, signal.SIGKILL)
        raise
    if code == 0 and not sets_aside:
        for kind, key, trace in set_asides_in(site.data):
            pytest.fail(f"The {kind} {key} was set aside in the site:\n{trace}", pytrace=False)
    return code


def set_asides_in(data: Path) -> list[tuple[str, str, str]]:
    """Return kind, key and traceback of all that is set aside in a site that has ended well.

    A site on PostgreSQL is not asked.
    """
    path = data / "db.sqlite3"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path, timeout=30)) as database:
        return database.execute("SELECT kind, key, traceback FROM runs_setaside").fetchall()
