"""New mail without polling: IMAP's IDLE (RFC 2177), where the server has it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

from imapclient import IMAPClient

from tapestry.core.errors import TapestryError
from tapestry.ingest.imap.session import open_imap
from tapestry.servers.account import Account, ConnectionLostError
from tapestry.servers.imap import explained

RENEW = 9 * 60.0
"""Seconds after which IDLE is sent again: some servers and NAT routers end it after ten minutes."""

_CHECK_SECONDS = 2.0
_NEW_MAIL = {b"EXISTS", b"RECENT"}


class CannotIdleError(TapestryError):
    """The server has no IDLE: it must be polled."""


def watch_mailbox(
    account: Account,
    folder: str,
    on_mail: Callable[[], None],
    stopped: Callable[[], bool],
    on_answer: Callable[[], None] = lambda: None,
) -> None:
    """Call ``on_mail`` when the watch begins and whenever mail comes, until ``stopped()``.

    A caller that pulls at each call misses nothing.  ``on_answer`` is called whenever the server
    has said anything, after ``on_mail``: of all mail until then, it has told (a punctuation
    [Law11 §7.1]).  Raises CannotIdleError if there is no IDLE, ConnectionLostError when the
    connection is lost.
    """
    with open_imap(account) as session, explained(account):
        client = session.client
        if not client.has_capability("IDLE"):
            raise CannotIdleError(
                f"{account.host} cannot say when mail comes.", hint="It is asked every so often."
            )
        session.examine(folder)
        _keep_alive(client.socket())
        is_first = True
        while not stopped():
            client.idle()
            if is_first:
                on_mail()
                is_first = False
            until = time.monotonic() + RENEW
            while time.monotonic() < until and not stopped():
                responses = _check(account, client)
                if _announces_mail(responses):
                    on_mail()
                if responses:
                    on_answer()
            if _announces_mail(client.idle_done()[1]):
                on_mail()
            on_answer()


def _check(account: Account, client: IMAPClient) -> Any:
    """Wait for responses for a moment, and return them."""
    began = time.monotonic()
    responses = client.idle_check(timeout=_CHECK_SECONDS)
    if not responses and time.monotonic() - began < _CHECK_SECONDS / 2:
        # The socket is ready and has no data: the connection has ended.
        raise ConnectionLostError(f"{account.where} hung up.", hint="It is called again.")
    if any(response and response[0] == b"BYE" for response in responses):
        raise ConnectionLostError(f"{account.where} said goodbye.", hint="It is called again.")
    return responses


def _announces_mail(responses: Any) -> bool:
    return any(
        len(response) > 1 and response[1] in _NEW_MAIL
        for response in responses
        if isinstance(response, tuple)
    )


def _keep_alive(connection: socket.socket) -> None:
    """Have the system probe the connection (TCP keepalive), so that a dead one is noticed."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 20)
