"""How long `manage.py up` and `manage.py demo` take until all serves; or a wheel, by `uvx`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port

SUMMARY = "from the command line to “Tapestry is ready”, and from Ctrl-C to the end"

FIGURES = {
    "`{command}` until all serves; until all has stopped{by}": "{ready_s:.0f} s; {stopped_s:.0f} s",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--command", choices=("up", "demo"), default="up", dest="started")
    parser.add_argument("--wheel", help="start this one by uvx, whose cache is empty")


def measure(options: dict[str, Any]) -> dict[str, float | int | str]:
    """Return seconds to start and to stop, on an empty data directory."""
    command, wheel = [sys.executable, "manage.py"], options["wheel"]
    if wheel:
        command = [str(Path(sys.executable).parent / "uvx"), "--from", wheel, "tapestry"]
    command += [options["started"], "--port", str(free_port())]
    command += ["--data", str(services.data() / "started")]
    begin = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"UV_CACHE_DIR": str(services.data() / "cache")},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        lines = iter(process.stdout or ())
        if not any(line.startswith("Tapestry is ready") for line in lines):
            raise TapestryError("It did not become ready.")
        ready = time.perf_counter()
        process.terminate()
        process.wait()
    return {
        "command": options["started"],
        "by": ", downloads and all" if wheel else "",
        "ready_s": round(ready - begin, 2),
        "stopped_s": round(time.perf_counter() - ready, 2),
    }
