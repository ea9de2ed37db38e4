"""A whole site on a disk that fills and empties: all goes on, nothing is lost, nothing is twice."""

from __future__ import annotations

import email.message
import json
import mailbox
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.servers.site import end, environment_for, start, wait_ready

pytestmark = [
    pytest.mark.live,
    pytest.mark.long,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a small disk (tmpfs)"),
]

MAIL = 60
FULL = "The disk of this site is full."
RESERVE = {"TAPESTRY_DISK_RESERVE": "40"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", path], check=True)
    yield path
    subprocess.run(["umount", "--lazy", path], check=True)


def box(path: Path, begin: int) -> Path:
    """Write an archive of messages by Jones."""
    archive = mailbox.mbox(path)
    for number in range(begin, begin + MAIL):
        message = email.message.EmailMessage()
        message["Message-ID"] = f"<{number}@x>"
        message["From"] = "Jones <jones@example.org>"
        message["Date"] = "Mon, 02 Nov 2026 10:00:00 +0000"
        message.set_content(f"text {number}")
        archive.add(message)
    archive.flush()
    return path


def fill(disk: Path) -> list[Path]:
    """Leave no room at all."""
    made = []
    for size in (1 << 20, 1 << 12):
        made.append(disk / f"filler{size}")
        with made[-1].open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
    return made


def eventually(data: Path, look: Callable[[], bool], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline, logs(data)[-5000:]
        time.sleep(0.5)


def logs(data: Path) -> str:
    return "".join(path.read_text() for path in (data / "run").glob("*.log"))


def test_a_disk_fills_and_empties(disk: Path, tmp_path: Path) -> None:
    data = disk / "data"
    data.mkdir(mode=0o700)
    first, second = box(tmp_path / "first.mbox", 0), box(tmp_path / "second.mbox", MAIL)
    site = start(data, **RESERVE)
    try:
        wait_ready(site)
        install = (
            "from filters.people.models import User; from filters.authoring import lifecycle; "
            "terry = User.objects.create_user('terry'); "
            "lifecycle.install(terry, 'from Jones', name='jones')"
        )
        site.manage("shell", "-c", install)
        site.manage("ingest", str(first), **RESERVE)

        def found() -> list[str]:
            printed = site.manage("matches", "terry.jones", "--json")
            return sorted(json.loads(line)["msgid"] for line in printed.splitlines())

        eventually(data, lambda: len(found()) == MAIL)
        made = fill(disk)
        for command in (["ingest", str(second)], ["tick"]):
            ended = subprocess.run(
                [sys.executable, "manage.py", *command],
                cwd=ROOT, env=environment_for(data) | RESERVE, capture_output=True, text=True,
            )  # fmt: skip
            assert (ended.returncode, FULL in ended.stderr) == (1, True), ended.stderr
            assert "Traceback" not in ended.stderr and "at /" not in ended.stderr
        time.sleep(8)
        assert site.process.poll() is None, (data / "up.log").read_text()
        for path in made:
            path.unlink()
        site.manage("ingest", str(second), **RESERVE)
        eventually(data, lambda: len(found()) == 2 * MAIL)
        assert found() == sorted(f"{number}@x" for number in range(2 * MAIL))
        assert "damaged" not in site.manage("check-data")
        assert "disk_full task=" in logs(data) and "Traceback" not in logs(data)
    finally:
        end(site)
