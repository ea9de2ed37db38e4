"""All parts running on the data directory of a measurement."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port


@contextmanager
def running_site() -> Iterator[str]:
    """Run `manage.py up`, ready in the block, and yield its URL; its words go to ``up.log``."""
    data, port = services.data(), free_port()
    command = [sys.executable, "manage.py", "up", "--port", str(port), "--data", str(data)]
    root = Path(__file__).resolve().parents[3]
    with (
        (data / "up.log").open("wb") as log,
        subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=log, text=True) as up,
    ):
        try:
            if not any("Tapestry is ready" in line for line in up.stdout or ()):
                raise TapestryError("It did not become ready.")
            yield f"http://127.0.0.1:{port}/"
        finally:
            up.terminate()
            up.wait(30)


def wait_until(done: Callable[[], bool], seconds: float) -> None:
    """Wait until something is done; raise TapestryError after so many seconds."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TapestryError(f"It is not done after {seconds:.0f} seconds.")
        time.sleep(0.1)
