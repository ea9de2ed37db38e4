"""Locks of files: who holds one, for how long, and what is left when a process dies."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys

from tapestry.core.files.file_lock import FOREVER, file_lock

HOLD = """
import sys, time
from pathlib import Path
from tapestry.core.files.file_lock import file_lock
with file_lock(Path(sys.argv[1])) as acquired:
    print(acquired, flush=True)
    time.sleep(600)
"""


def test_a_second_holder_is_told_no_until_the_first_is_done(tmp_path):
    path = tmp_path / "run" / "x.lock"
    with file_lock(path) as first, file_lock(path) as second, file_lock(path, wait=0.05) as third:
        assert (first, second, third) == (True, False, False)
    with file_lock(path, wait=FOREVER) as again:
        assert again


def test_a_killed_process_lets_go(tmp_path):
    path = tmp_path / "x.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        env={"PYTHONPATH": ":".join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "True\n"
    with file_lock(path) as acquired:
        assert not acquired
    holder.send_signal(signal.SIGKILL)
    holder.communicate(timeout=60)
    with file_lock(path) as acquired:
        assert acquired


def test_a_forked_child_does_not_keep_the_lock_of_its_parent(tmp_path):
    path = tmp_path / "x.lock"
    with file_lock(path):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
    with file_lock(path) as acquired:
        assert acquired
    os.close(writing)
    os.waitpid(child, 0)


def test_a_lock_that_went_with_its_server_is_let_go_without_an_error(tmp_path, monkeypatch):
    flock = fcntl.flock

    def answer(descriptor, operation):
        if operation == fcntl.LOCK_UN:
            raise OSError(errno.EIO, "File descriptor in bad state")
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", answer)
    with file_lock(tmp_path / "x.lock") as acquired:
        assert acquired
