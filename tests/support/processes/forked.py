"""Programs in Python as processes of their own, that begin with what is large imported already.

The process is a child of one that forks (tests.support.processes.fork_server); else all is as
with `subprocess`.  Where a test is about the start of a process, or loads a library of C before it,
it starts Python itself.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from tests.support.paths import ROOT

ONE_THREAD = {
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "OPENBLAS_NUM_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
}
"""What keeps libraries from starting threads as they are imported: a fork takes one along."""

_lock = Lock()


class Forked(subprocess.Popen):
    """A program, a script and its arguments, that runs in a process which was forked."""

    _close_pipe_fds: Any
    _handle_exitstatus: Any
    _waitpid_lock: Any

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others):
        """Order the process: what `subprocess.Popen` forks and executes itself."""
        _, _, _, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *asked = others
        umask, new_session = asked[4:6]
        assert not (executable or preexec_fn or pass_fds or new_session), "a fork has none of these"
        order = {
            "arguments": [os.fspath(argument) for argument in args],
            "directory": os.fspath(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "umask": umask,
        }
        files = [p2cread, c2pwrite, errwrite]
        files = [own if file == -1 else file for own, file in enumerate(files)]
        self._answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, _lock:
            control = _server()[1]
            socket.send_fds(control, [json.dumps(order).encode()], [*files, theirs.fileno()])
        self.pid = int(self._answers.recv(100))
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)

    def _try_wait(self, wait_flags):
        """Return its number and how it ended, or 0 and 0 while it runs."""
        try:
            flags = socket.MSG_DONTWAIT if wait_flags & os.WNOHANG else 0
            status = int(self._answers.recv(100, flags))
        except BlockingIOError:
            return 0, 0
        self._answers.close()
        return self.pid, status

    def _internal_poll(self, _deadstate=None, **_):
        """Return its exit code, or None while it runs."""
        if self.returncode is None and self._waitpid_lock.acquire(False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def run(
    arguments: list[Any], *, timeout: float = 300, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, as `subprocess.run` does; kill it after ``timeout`` seconds."""
    with Forked(arguments, **options) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        finally:
            process.kill()  # nothing, if it has ended
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


@cache
def _server() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the process that forks, which ends when this process does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.processes.fork_server", str(theirs.fileno())],
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    atexit.register(end)
    return process, ours


def end() -> None:
    """End the process that forks, where one was started."""
    if _server.cache_info().currsize:
        process, control = _server()
        control.close()
        process.wait(60)
        _server.cache_clear()
        atexit.unregister(end)
