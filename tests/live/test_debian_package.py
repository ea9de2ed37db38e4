"""The Debian package of `make deb`, installed on this machine as root, and removed again."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tapestry.core.processes.child_process import free_port
from tests.support.paths import ROOT

pytestmark = [pytest.mark.live, pytest.mark.long]

UNIT = Path("/lib/systemd/system/tapestry.service")
DATA = Path("/var/lib/tapestry")


def run(*command: str | Path) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    assert os.getuid() == 0 and not UNIT.exists() and not DATA.exists()
    root = tmp_path_factory.mktemp("deb")
    run("make", "--old-file=.venv/.run-ready", "deb", f"DIST={root}")
    (package,) = root.glob("tapestry_*.deb")
    try:
        run("dpkg", "--install", package)
        yield
    finally:
        run("dpkg", "--purge", "tapestry")
    assert not Path("/usr/lib/tapestry").exists()


@pytest.fixture
def data(installed: None) -> Iterator[Path]:
    """The directory that systemd makes for the service, as StateDirectory says."""
    run("install", "--directory", "--owner=tapestry", "--mode=700", DATA)
    yield DATA
    run("rm", "-r", DATA)


def test_its_unit_is_right_and_confined(installed: None) -> None:
    run("systemd-analyze", "verify", UNIT)
    shown = run("systemd-analyze", "security", "--offline=true", UNIT)
    (exposure,) = re.findall(r"exposure level for tapestry.service: ([\d.]+)", shown)
    assert float(exposure) < 2.5


def test_the_command_and_its_manual_are_found(installed: None) -> None:
    assert run("tapestry", "--version").startswith("Tapestry ")
    assert "doctor" in run("man", "tapestry")
    assert Path("/usr/share/bash-completion/completions/tapestry").exists()


def test_its_service_is_ready_alive_and_stopped_in_order(data: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    for parent in list(tmp_path.parents)[:2]:
        parent.chmod(0o711)
    port, address = free_port(), str(tmp_path / "notify")
    told = [f"TAPESTRY_DATA={data}", f"HOME={data}", f"NOTIFY_SOCKET={address}"]
    (start,) = re.findall(r"^ExecStart=(.*)$", UNIT.read_text(), re.MULTILINE)
    command = ["setpriv", "--reuid=tapestry", "--regid=tapestry", "--clear-groups", "env", *told]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        Path(address).chmod(0o777)
        manager.settimeout(300)
        up = [*command, *start.split(), "--port", str(port)]
        with subprocess.Popen(up, cwd=data) as process:
            try:
                assert manager.recv(100) == b"READY=1"
                assert manager.recv(100) == b"WATCHDOG=1"
                with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
                    assert answer.status == 200
            finally:
                process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
