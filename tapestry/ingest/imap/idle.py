"""Hear of new mail at once: IMAP's IDLE, where the server has it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

from imapclient import IMAPClient

from tapestry.core.errors import TapestryError
from tapestry.ingest.account import Account, ConnectionLostError
from tapestry.ingest.imap.session import explained, open_imap

RENEW = 9 * 60.0
"""Seconds after which IDLE is begun anew: some servers, and boxes between, end it after ten."""

_TURN = 2.0
_NEWS = {b"EXISTS", b"RECENT"}


class CannotIdleError(TapestryError):
    """The server has no IDLE: it must be asked from time to time."""


def watch_mailbox(
    account: Account,
    folder: str,
    on_mail: Callable[[], None],
    stopped: Callable[[], bool],
    renew: float = RENEW,
) -> None:
    """Call ``on_mail`` once one listens, and then whenever mail comes, until ``stopped()``.

    The first call is for what came before: whoever pulls at each call misses nothing.
    Raises CannotIdleError where there is no IDLE, ConnectionLostError when the line breaks.
    """
    with open_imap(account) as line, explained(account):
        if not line.client.has_capability("IDLE"):
            raise CannotIdleError(
                f"{account.host} cannot say when mail comes.", hint="It is asked every so often."
            )
        line.examine(folder)
        _notice_a_dead_line(line.client)
        first = True
        while not stopped():
            line.client.idle()
            if first:
                on_mail()
                first = False
            until = time.monotonic() + renew
            while time.monotonic() < until and not stopped():
                if _mail_arrived(account, line.client):
                    on_mail()
            _text, late = line.client.idle_done()
            if _tells_of_mail(late):
                on_mail()


def _mail_arrived(account: Account, client: IMAPClient) -> bool:
    began = time.monotonic()
    said = client.idle_check(timeout=_TURN)
    if not said and time.monotonic() - began < _TURN / 2:
        # Ready to be read, and nothing there: this is how the library tells of the end.
        raise ConnectionLostError(f"{account.where} hung up.", hint="It is called again.")
    if any(each and each[0] == b"BYE" for each in said):
        raise ConnectionLostError(f"{account.where} said goodbye.", hint="It is called again.")
    return _tells_of_mail(said)


def _tells_of_mail(said: Any) -> bool:
    return any(len(each) > 1 and each[1] in _NEWS for each in said if isinstance(each, tuple))


def _notice_a_dead_line(client: IMAPClient) -> None:
    """Have the system ask now and then whether the other end is still there."""
    line = client.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 20)
