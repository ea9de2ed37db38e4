"""Child processes: they end when they should, and say how they ended."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapestry.core.processes.child_process import (
    MALLOC,
    free_port,
    last_line,
    listens,
    spawn,
    stop,
)

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def gone(pid):
    """Whether a process has ended; it may be waited for by somebody else still."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until(true, seconds=60):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_child_is_stopped_with_all_that_it_started(tmp_path):
    script = f"import subprocess; print(subprocess.Popen({SLEEP!r}).pid, flush=True); input()"
    log = tmp_path / "log"
    child = spawn(
        "It", [sys.executable, "-c", script.replace("input()", "import time; time.sleep(600)")], log
    )
    wait_until(lambda: log.read_text().endswith("\n"))
    stop([child])
    assert not child.alive
    wait_until(lambda: gone(int(log.read_text())))


def test_a_child_that_will_not_end_is_killed(tmp_path):
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True)"
    )
    child = spawn("It", [sys.executable, "-c", f"{deaf}; time.sleep(600)"], tmp_path / "log")
    wait_until(lambda: (tmp_path / "log").read_text())
    stop([child], grace=0.3)
    assert child.process.returncode == -signal.SIGKILL


def test_a_child_does_not_outlive_a_parent_that_was_killed(tmp_path):
    script = f"""
import time
from pathlib import Path
from tapestry.core.processes.child_process import spawn
print(spawn("It", {SLEEP!r}, Path({str(tmp_path / "log")!r})).process.pid, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    assert not gone(pid)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_until(lambda: gone(pid))


def test_a_child_gives_memory_back_unless_the_operator_says_otherwise(tmp_path, monkeypatch):
    for name in MALLOC:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MALLOC_ARENA_MAX", "8")
    log = tmp_path / "log"
    show = f"import os; print([os.environ[name] for name in {[*MALLOC]!r}])"
    spawn("It", [sys.executable, "-c", show], log).process.wait()
    assert last_line(log) == str([*(MALLOC | {"MALLOC_ARENA_MAX": "8"}).values()])


def test_an_obituary_gives_the_last_line_of_the_log(tmp_path):
    log = tmp_path / "log"
    child = spawn(
        "It", [sys.executable, "-c", "print('one'); print('two'); raise SystemExit(3)"], log
    )
    child.process.wait()
    assert child.describe_exit() == f"It ended with code 3; the last line of {log} is: two"


def test_an_obituary_of_a_child_without_words(tmp_path):
    child = spawn("It", ["true"], tmp_path / "log")
    child.process.wait()
    assert child.describe_exit() == f"It ended with code 0; {tmp_path / 'log'} is empty"


@pytest.mark.parametrize(("text", "last"), [("", ""), ("a\n\n \n", "a"), ("a\nb", "b")])
def test_the_last_line_is_the_last_that_says_something(tmp_path, text, last):
    (tmp_path / "log").write_text(text)
    assert last_line(tmp_path / "log") == last


def test_nothing_listens_on_a_free_port():
    assert not listens(free_port())


def test_a_free_port_is_none_that_connections_out_are_given():
    ports = {free_port() for _ in range(50)}
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert len(ports) > 40 and max(ports) < low
    assert not any(listens(port) for port in ports)
