"""A program for people in a terminal of its own: what it shows, and keys pressed."""

from __future__ import annotations

import os
import pty
import re
import select
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

CONTROLS = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b\(.|\x1b[=>]|[\x0e\x0f]")
REDRAW = b"\x0c"


class Terminal:
    """A terminal of 24 lines in which a program runs; it ends with the block."""

    def __init__(self, command: Sequence[str], home: Path) -> None:
        self._shown = b""
        self._child, self._file = pty.fork()
        if self._child == 0:
            termios.tcsetwinsize(0, (24, 80))  # a program that finds no size may draw nothing
            place = {"HOME": str(home), "TERM": "vt100", "LC_ALL": "C.UTF-8"}
            os.execvpe(command[0], list(command), {"PATH": os.environ["PATH"], **place})

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        os.close(self._file)  # the program is told that its terminal is gone
        os.waitpid(self._child, 0)

    def press(self, keys: bytes) -> None:
        os.write(self._file, keys)

    def wait_for(self, text: bytes, seconds: float = 120) -> None:
        """Wait until it shows a text, from what it shows now on."""
        end, self._shown = time.monotonic() + seconds, b""
        while text not in CONTROLS.sub(b"", self._shown):
            assert time.monotonic() < end, CONTROLS.sub(b"", self._shown)[-2000:].decode()
            if select.select([self._file], [], [], 1)[0]:
                self._shown += os.read(self._file, 1 << 16)
            else:
                self.press(REDRAW)
