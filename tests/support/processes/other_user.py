"""Somebody else on this machine: `nobody` where the tests run as root, else the same user.

The same user without our secrets can do less harm than that: files are open to them.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

PYTHON = "/usr/bin/python3"
"""A Python that everybody may run: that of the tests may lie in a private directory."""


def is_root() -> bool:
    return os.geteuid() == 0


def user_number() -> int:
    return pwd.getpwnam("nobody").pw_uid if is_root() else os.geteuid()


@contextmanager
def as_other_user(code: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run Python code as that user, until the end of the block; yield its process and number.

    Its input ends with the block.  It has no variable of our environment.
    """
    user = user_number()
    process = subprocess.Popen([PYTHON, "-I", "-c", code, *arguments], cwd="/", **_options(user))
    try:
        yield process, user
    finally:
        process.communicate(timeout=120)


def run_as_other_user(code: str, *arguments: str, given: str = "") -> str:
    """Return what Python code prints that is run as that user, with a text to read."""
    process = subprocess.Popen(
        [PYTHON, "-I", "-c", code, *arguments], cwd="/", **_options(user_number())
    )
    output, errors = process.communicate(given, timeout=300)
    assert process.returncode == 0, errors
    return output


def _options(user: int) -> dict[str, Any]:
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    other = {"user": user, "group": pwd.getpwuid(user).pw_gid, "extra_groups": []}
    return {"text": True, "env": {}, **pipes, **(other if is_root() else {})}


SQUAT = """
import selectors, socket, sys
host, port = sys.argv[1:]
family = socket.AF_INET6 if ":" in host else socket.AF_INET
listener = socket.create_server((host, int(port)), family=family)
print(listener.getsockname()[1], flush=True)
received, look = b"", selectors.DefaultSelector()
look.register(listener, selectors.EVENT_READ)
look.register(sys.stdin, selectors.EVENT_READ)
while True:
    for key, _ in look.select():
        if key.fileobj is listener:
            look.register(listener.accept()[0], selectors.EVENT_READ)
        elif key.fileobj is sys.stdin:
            print(received.hex(), flush=True)
            sys.exit()
        else:
            data = key.fileobj.recv(65536)
            received += data
            if not data:
                look.unregister(key.fileobj)
"""


@dataclass
class Squatter:
    """Somebody who listens at a port; after the block, ``received`` is all that was sent there."""

    port: int
    user: int
    received: bytes = b""


@contextmanager
def squatting(port: int, host: str = "127.0.0.1") -> Iterator[Squatter]:
    """Have that user listen at a port (0: any that is free), and take what comes."""
    process = subprocess.Popen(
        [PYTHON, "-I", "-c", SQUAT, host, str(port)], cwd="/", **_options(user_number())
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    squatter = Squatter(int(line), user_number())
    try:
        yield squatter
    finally:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        squatter.received = bytes.fromhex(output.strip())
