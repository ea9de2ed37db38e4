"""Verify a server that was guessed: it greets over TLS, with a valid certificate.

Nobody logs in.  What fails before TLS is up takes one time (tapestry.servers.connection).
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tapestry.core.errors import TapestryError
from tapestry.servers import imap, smtp
from tapestry.servers.account import Account
from tapestry.servers.discovery.server_settings import Protocol, ServerSettings

PATIENCE, LIMIT = 5.0, 8.0
"""Seconds for each response of a server, and for all that it is asked."""

MOST = 2
"""Servers that are tried at once, of those that there may be."""


def first_that_answers(
    candidates: Sequence[ServerSettings], protocol: Protocol, allowed: Sequence[str]
) -> ServerSettings | None:
    """Return the first of the preferred candidates that answers over TLS; all are asked at once."""
    tried = candidates[:MOST]
    if not tried:
        return None
    with ThreadPoolExecutor(len(tried), "verify") as pool:
        answers = [pool.submit(answers_over_tls, settings, protocol, allowed) for settings in tried]
        for settings, answer in zip(tried, answers, strict=True):
            if answer.result():
                return settings
    return None


def answers_over_tls(settings: ServerSettings, protocol: Protocol, allowed: Sequence[str]) -> bool:
    """Return whether a server speaks the protocol, its connection encrypted."""
    place = (protocol, settings.host, settings.port, settings.security)
    account = Account(*place, allowed=tuple(allowed))
    try:
        if protocol == "imap":
            with imap.connected(account, PATIENCE, LIMIT) as client:
                return isinstance(client.socket(), ssl.SSLSocket)
        with smtp.connected(account, PATIENCE, LIMIT) as sender:
            return isinstance(sender.sock, ssl.SSLSocket)
    except TapestryError:
        return False
