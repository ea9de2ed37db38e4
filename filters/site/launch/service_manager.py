"""What systemd is told of a service of ``Type=notify``: sd_notify(3)."""

from __future__ import annotations

import os
import socket
from contextlib import suppress


def notify(state: str) -> None:
    """Tell the service manager of a state, such as ``READY=1``, if one started this process.

    A state that does not reach it is lost: it asks for the next by its watchdog.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as messenger:
        # “@” stands for the NUL of a name that is in no directory.
        messenger.sendto(state.encode(), address.replace("@", "\0", 1))
