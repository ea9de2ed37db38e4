"""The ports at which processes listen, with their addresses."""

from __future__ import annotations

from contextlib import suppress

import psutil

LOOPBACK = frozenset({"127.0.0.1", "::1", "::ffff:127.0.0.1"})


def listening(pid: int) -> set[tuple[str, int]]:
    """Return the address and port of each TCP socket at which a process listens."""
    connections = psutil.Process(pid).net_connections("tcp")
    return {tuple(c.laddr[:2]) for c in connections if c.status == psutil.CONN_LISTEN}


def listening_of_family(pid: int) -> dict[int, set[tuple[str, int]]]:
    """Return the same of a process and all its descendants, by process."""
    parent, found = psutil.Process(pid), {}
    for member in (parent, *parent.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it has ended since
            found[member.pid] = listening(member.pid)
    return found


def arguments_of(pid: int) -> str:
    """Return the command line of a process; none if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return " ".join(psutil.Process(pid).cmdline())
    return ""
