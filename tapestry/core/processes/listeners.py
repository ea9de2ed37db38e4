"""Find who listens at a port of loopback: on Linux the kernel tells the user of each socket.

A port is free again for anybody once its process has ended (port squatting).  So whoever sends a
secret to a port looks first whose it is.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))

LISTENING = "0A"
"""The state of a socket that listens, in the kernel's tables."""


def _addresses() -> frozenset[str]:
    """Return the addresses, as the tables write them, whose sockets get what 127.0.0.1 is sent."""
    loopback = f"{int.from_bytes(socket.inet_aton('127.0.0.1'), sys.byteorder):08X}"
    marker = f"{int.from_bytes(bytes.fromhex('0000FFFF'), sys.byteorder):08X}"
    mapped = ["0" * 16 + marker + address for address in (loopback, "0" * 8)]
    return frozenset({loopback, "0" * 8, "0" * 32, *mapped})


ADDRESSES = _addresses()


def listening_users(port: int) -> set[int] | None:
    """Return the user numbers of who listens at a port of 127.0.0.1; None if nobody tells."""
    if not TABLES[0].exists():
        return None
    users = set()
    for table in TABLES:
        if not table.exists():
            continue
        for line in table.read_text().splitlines()[1:]:
            _, local, _, state, _, _, _, user, *_ = line.split()
            address, _, number = local.partition(":")
            if state == LISTENING and int(number, 16) == port and address in ADDRESSES:
                users.add(int(user))
    return users


def is_strangers(port: int, user: int) -> bool:
    """Return whether anybody else than a user listens at a port of 127.0.0.1."""
    return bool((listening_users(port) or set()) - {user})
