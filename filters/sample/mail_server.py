"""The demo's own mail server: it takes what the site sends over SMTP, and keeps it for a page.

It asks for a password, which is made at each start: nobody else on this machine sends through it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from django.db import close_old_connections

from filters.delivery.mail.kept import keep
from filters.sample.cast import CAST

USER = "tapestry"
"""The name under which the site signs in."""

LARGEST = 64 * 1024 * 1024
"""Bytes of a message that it takes."""


OF_THE_SAMPLE = frozenset(person.address for person in CAST)
"""Addresses of those who write in the sample."""


class _Keeper:
    """Takes mail for people of this site, and for those who write in the sample.

    What the latter get is not kept: they have no mailbox.
    """

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take a sender only from whoever has signed in."""
        if not session.authenticated:
            return "530 5.7.0 Authentication required."
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 2.1.0 OK"

    async def handle_DATA(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Keep a message for each of its recipients."""
        content = envelope.content
        raw = content if isinstance(content, bytes) else str(content or "").encode()
        for recipient in envelope.rcpt_tos:
            kept = await asyncio.to_thread(_keep, raw, recipient)
            if not kept and recipient.lower() not in OF_THE_SAMPLE:
                return "550 5.1.1 Nobody here has this address."
        return "250 2.0.0 Kept."


def _keep(raw: bytes, recipient: str) -> bool:
    close_old_connections()
    try:
        return keep(raw, recipient)
    finally:
        close_old_connections()


class _LoopbackController(Controller):
    """A controller on a socket that listens already, so that its port is free for certain."""

    def __init__(self, listener: socket.socket, password: str) -> None:
        super().__init__(
            _Keeper(),
            "127.0.0.1",
            listener.getsockname()[1],
            data_size_limit=LARGEST,
            authenticator=self._authenticate,
            auth_require_tls=False,  # nothing leaves this machine
        )
        self._listener = listener
        self._password = password.encode()

    def _authenticate(self, *arguments: Any) -> AuthResult:
        given = arguments[-1]
        return AuthResult(
            success=isinstance(given, LoginPassword)
            and given.login == USER.encode()
            and secrets.compare_digest(given.password, self._password),
            handled=False,
        )

    def _create_server(self) -> Any:
        return self.loop.create_server(self._factory_invoker, sock=self._listener)


@contextmanager
def running_mail_server() -> Iterator[str]:
    """Run the mail server on a free port of loopback; yield its EMAIL_URL, a secret."""
    password = secrets.token_urlsafe(32)
    # aiosmtpd warns at each sign-in of an attribute of its own that nobody here reads.
    logging.getLogger("mail.log").setLevel(logging.ERROR)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        controller = _LoopbackController(listener, password)
        controller.start()
        try:
            yield f"smtp://{USER}:{password}@127.0.0.1:{listener.getsockname()[1]}"
        finally:
            controller.stop()
