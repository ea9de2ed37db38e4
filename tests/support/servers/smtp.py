"""An SMTP server for tests: aiosmtpd, which keeps what it takes and fails as it is told."""

from __future__ import annotations

import asyncio
import socket
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult


@dataclass
class SmtpServer:
    """What arrived, and what the next commands are answered with.

    ``rcpt`` and ``data`` are answers instead of 250, for as long as they are set, ``rcpt_of`` are
    those about some addresses; "cut" cuts the line instead.  ``after_data``: "cut" takes the
    message and cuts the line before its answer; "hang" takes it and says nothing.  ``options`` are
    those of MAIL, by message.
    """

    port: int = 0
    host: str = "127.0.0.1"
    taken: list[bytes] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    rcpt: str = ""
    rcpt_of: dict[str, str] = field(default_factory=dict)
    data: str = ""
    after_data: str = ""
    connections: int = 0
    needs_login: bool = False
    has_8bitmime: bool = True
    options: list[list[str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"smtp://{self.host}:{self.port}"

    @property
    def messages(self) -> list[EmailMessage]:
        return [message_from_bytes(raw, policy=policy.default) for raw in self.taken]


class _Handler:
    def __init__(self, server: SmtpServer) -> None:
        self.server = server

    async def handle_EHLO(  # noqa: N802
        self, server: SMTP, session: Any, envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        self.server.connections += 1
        session.host_name = hostname
        if self.server.has_8bitmime:
            return responses
        return [line for line in responses if "8BITMIME" not in line]

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if self.server.needs_login and not session.authenticated:
            return "530 5.7.0 Authentication required"
        answer = self.server.rcpt_of.get(address, self.server.rcpt)
        if answer == "cut":
            server.transport.abort()
        if answer:
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.server.data:
            return self.server.data
        self.server.taken.append(envelope.content)
        self.server.recipients.extend(envelope.rcpt_tos)
        self.server.options.append(list(envelope.mail_options))
        self.server.senders.append(envelope.mail_from)
        if self.server.after_data == "cut":
            server.transport.abort()
        if self.server.after_data == "hang":
            await asyncio.sleep(30)
        return "250 OK"


class _TokenHandler(_Handler):
    """Lets in who has a token, and says to others why not in a challenge, as Gmail does."""

    def __init__(self, server: SmtpServer, user: str, token: str) -> None:
        super().__init__(server)
        self.expected = f"user={user}\1auth=Bearer {token}\1\1".encode()

    async def auth_XOAUTH2(self, server: SMTP, args: list[str]) -> AuthResult:  # noqa: N802
        if b64decode(args[1]) == self.expected:
            return AuthResult(success=True, auth_data=self.expected)
        await server.challenge_auth('{"status": "401"}')
        return AuthResult(success=False, handled=False)


class _Controller(Controller):
    """A controller that listens on a socket it is given: the port is free for certain."""

    def __init__(self, handler: _Handler, listener: socket.socket, **options: Any) -> None:
        host, port = listener.getsockname()
        options = {"server_hostname": "mx", "ready_timeout": 60, **options}
        super().__init__(handler, host, port, **options)
        self.listener = listener

    def _create_server(self) -> Any:
        return self.loop.create_server(
            self._factory_invoker, sock=self.listener, ssl=self.ssl_context
        )


@contextmanager
def running_smtp(
    user: str = "",
    password: str = "",
    token: str = "",
    host: str = "127.0.0.1",
    **options: Any,
) -> Iterator[SmtpServer]:
    """Run an SMTP server on a free port of a host, which is loopback unless another is given.

    With a user, and a password or a token, it takes no mail from others; ``options`` are those of
    aiosmtpd: ``ssl_context`` for TLS from the start, ``tls_context`` for STARTTLS.
    """

    def authenticate(
        _server: Any, _session: Any, _envelope: Any, _how: str, data: Any
    ) -> AuthResult:
        given = (data.login.decode(), data.password.decode())
        return AuthResult(success=given == (user, password), handled=False)

    if user:
        options |= {"authenticator": authenticate, "auth_require_tls": "tls_context" in options}
    listener = socket.create_server((host, 0))
    server = SmtpServer(listener.getsockname()[1], host, needs_login=bool(user))
    handler = _TokenHandler(server, user, token) if token else _Handler(server)
    controller = _Controller(handler, listener, **options)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()
