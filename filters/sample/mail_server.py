"""The demo's own mail server: it takes what the site sends over SMTP, and keeps it for a page."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from django.db import close_old_connections

from filters.delivery.mail.kept import keep

LARGEST = 64 * 1024 * 1024
"""Bytes of a message that it takes."""


class _Keeper:
    """Takes mail for people of this site, by their addresses."""

    async def handle_DATA(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Keep a message for each of its recipients."""
        content = envelope.content
        raw = content if isinstance(content, bytes) else str(content or "").encode()
        for recipient in envelope.rcpt_tos:
            if not await asyncio.to_thread(_keep, raw, recipient):
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

    def __init__(self, listener: socket.socket) -> None:
        port = listener.getsockname()[1]
        super().__init__(_Keeper(), "127.0.0.1", port, data_size_limit=LARGEST)
        self._listener = listener

    def _create_server(self) -> Any:
        return self.loop.create_server(self._factory_invoker, sock=self._listener)


@contextmanager
def running_mail_server() -> Iterator[str]:
    """Run the mail server on a free port of loopback; yield its EMAIL_URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        controller = _LoopbackController(listener)
        controller.start()
        try:
            yield f"smtp://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            controller.stop()
