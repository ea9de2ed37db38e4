"""The wheel of `make dist`, installed elsewhere: it has all it needs, and serves its pages."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest

from tapestry.core.processes.child_process import free_port
from tapestry.spark.server import JAVA_HINTS, java_hint
from tests.support.paths import ROOT

pytestmark = [pytest.mark.live, pytest.mark.long]

REFERRED = re.compile(r'(?:href|src)="(/static/[^"]+)"')
NOT_IN_IT = ("filters/templates", ".md")
"""A link to what is in it, and documents."""

MADE = (
    "man/man1/tapestry.1",
    "bash-completion/completions/tapestry",
    "zsh/site-functions/_tapestry",
    "fish/vendor_completions.d/tapestry.fish",
)
"""What the parsers make, under `share`."""

Tapestry = subprocess.CompletedProcess[str]


class Installed:
    """The wheel in a directory of its own, beside the packages that it needs."""

    def __init__(self, root: Path) -> None:
        self.packages, self.home = root / "packages", root / "home"
        # What is installed is there: it is what the tests run with.
        made = ["make", "--old-file=.venv/.run-ready", "dist", f"DIST={root}"]
        subprocess.run(made, cwd=ROOT, check=True, capture_output=True)
        (wheel,) = root.glob("tapestry-*.whl")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        where = ["--no-deps", "--no-index", "--target", self.packages, wheel]
        subprocess.run([*pip, *where], check=True, capture_output=True)
        self.home.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(self.packages)
        }  # fmt: skip

    def run(self, *arguments: str, **environment: str) -> Tapestry:
        return subprocess.run(
            [self.packages / "bin" / "tapestry", *arguments],
            cwd=self.home, env=self.environ | environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True,
        )  # fmt: skip


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_has_what_git_has_and_what_is_made(installed: Installed) -> None:
    rooms = ["git", "ls-files", "filters", "tapestry", "templates"]
    listed = subprocess.run(rooms, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split():
        if not name.endswith(NOT_IN_IT):
            there = name if not name.startswith("templates/") else f"filters/{name}"
            assert (installed.packages / there).is_file(), name
    assert not list(installed.packages.glob("test*"))
    for made in MADE:
        assert "doctor" in (installed.packages / "share" / made).read_text()


def test_its_commands_run_elsewhere(installed: Installed) -> None:
    assert installed.run("--version").stdout.startswith("Tapestry ")
    for command in ("doctor", "demo", "up"):
        shown = installed.run(command, "--help")
        assert shown.returncode == 0 and "(~/.local/share/tapestry)" in shown.stdout, shown.stderr
    refused = installed.run("bench", "compile")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error: What measures is in the repository")
    assert refused.stderr.endswith("Run there: make bench\n")


def test_a_java_that_is_missing_is_named_with_what_installs_it(
    installed: Installed, tmp_path: Path
) -> None:
    refused = installed.run("demo", "--port", str(free_port()), JAVA_HOME=str(tmp_path))
    assert (refused.returncode, refused.stdout) == (1, "")
    words, hint = refused.stderr.splitlines()
    assert words.startswith("error: Spark needs Java 17 or newer, and there is none in JAVA_HOME")
    assert hint in {java_hint(), *JAVA_HINTS.values()}


@pytest.fixture
def site(installed: Installed) -> Iterator[str]:
    """The web server of the wheel, on a data directory that it makes."""
    assert installed.run("filters").returncode == 0
    assert (installed.home / ".local/share/tapestry/db.sqlite3").exists()
    port = free_port()
    server = [sys.executable, "-m", "filters.site.launch.web_server", str(port)]
    environ = installed.environ | {"DJANGO_SETTINGS_MODULE": "tapestry.settings"}
    with subprocess.Popen(server, cwd=installed.home, env=environ) as process:
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


def test_its_pages_come_with_their_files(site: str) -> None:
    until = time.monotonic() + 120
    while True:
        try:
            with urlopen(site) as answer:
                page = answer.read().decode()
            break
        except URLError:
            assert time.monotonic() < until
            time.sleep(0.5)
    referred = set(REFERRED.findall(page))
    assert any(name.endswith(".css") for name in referred)
    assert any(name.endswith(".js") for name in referred)
    for name in referred:
        with urlopen(urljoin(site, name)) as answer:
            assert answer.status == 200 and answer.read()


UV, PIPX = "uv==0.13.9", "pipx==1.18.4"


@pytest.mark.timeout(3600)
def test_pipx_installs_it_as_a_command(installed: Installed, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--target", tmp_path / "tool", PIPX], check=True, capture_output=True)
    (wheel,) = installed.packages.parent.glob("tapestry-*.whl")
    where = {"PYTHONPATH": str(tmp_path / "tool"), "PIPX_HOME": str(tmp_path / "home")}
    where["PIPX_BIN_DIR"] = str(tmp_path / "bin")
    done = subprocess.run(
        [sys.executable, "-m", "pipx", "install", "--python", sys.executable, wheel],
        env=os.environ | where, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    command, environ = tmp_path / "bin" / "tapestry", installed.environ | {"PYTHONPATH": ""}
    for arguments, words in (
        (["--version"], "Tapestry "),
        (["doctor"], "started with the site (redis-server)"),
    ):
        shown = subprocess.run([command, *arguments], env=environ, capture_output=True, text=True)
        assert words in shown.stdout, shown.stderr
    shutil.rmtree(tmp_path / "home")  # some gigabytes


@pytest.mark.timeout(3600)
def test_one_line_starts_the_demo_in_an_empty_home(installed: Installed, tmp_path: Path) -> None:
    """By uv, which makes an environment of the wheel and of what the index has for it."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--target", tmp_path / "uv", UV], check=True, capture_output=True)
    (wheel,) = installed.packages.parent.glob("tapestry-*.whl")
    port, home = free_port(), tmp_path / "home"
    home.mkdir()
    index = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "SSL_"))}
    line = [tmp_path / "uv" / "bin" / "uvx", "--from", wheel, "tapestry", "demo", "--still"]
    with subprocess.Popen(
        [*line, "--port", str(port)],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home)} | index,
        stdout=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stdout is not None
        said = list(takewhile(lambda words: "Tapestry is ready at" not in words, demo.stdout))
        with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
            assert answer.status == 200, said
        demo.send_signal(signal.SIGINT)
        assert demo.wait(120) == 0, said
    assert (home / ".local/share/tapestry/db.sqlite3").exists()
    shutil.rmtree(home)  # some gigabytes
