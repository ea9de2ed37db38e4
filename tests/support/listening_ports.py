"""The ports at which processes listen, with their addresses."""

from __future__ import annotations

import psutil

LOOPBACK = frozenset({"127.0.0.1", "::1", "::ffff:127.0.0.1"})


def listening(pid: int) -> set[tuple[str, int]]:
    """Return the address and port of each TCP socket at which a process listens."""
    connections = psutil.Process(pid).net_connections("tcp")
    return {tuple(c.laddr[:2]) for c in connections if c.status == psutil.CONN_LISTEN}


def listening_of_family(pid: int) -> dict[int, set[tuple[str, int]]]:
    """Return the same of a process and all its descendants, by process."""
    parent = psutil.Process(pid)
    family = (parent, *parent.children(recursive=True))
    return {member.pid: listening(member.pid) for member in family if not has_ended(member)}


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process has ended, though its parent does not know yet."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
