"""The IMAP server over TLS, in a thread, and mail programs that sign in to it."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest
import trustme
from imapclient import IMAPClient

from filters.api.authentication import make_token
from filters.imap.server import listen
from filters.people.models import User
from filters.site.settings.imap import ImapPlace
from tapestry.core.processes.child_process import free_port

Place = tuple[int, Path]
"""The port of a server, and the certificate of who vouches for it."""


def certify(data: Path) -> tuple[Path, Path]:
    """Write a certificate for this machine; return its file, and that of who vouches for it."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(data / "ca.pem")
    issued = authority.issue_cert("127.0.0.1", "localhost", common_name="localhost")
    issued.private_key_and_cert_chain_pem.write_to_path(data / "s.pem")
    return data / "s.pem", data / "ca.pem"


@pytest.fixture
def served(transactional_db: None, data: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Place]:
    """Serve the lists of the test's database; fail if an unforeseen error is logged."""
    certificate, authority = certify(data)
    place = ImapPlace("127.0.0.1", free_port(), str(certificate), "")
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(listen(place, place.context()), loop).result(60)
    try:
        yield place.port, authority
    finally:
        loop.call_soon_threadsafe(server.close)
        asyncio.run_coroutine_threadsafe(_end(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()
    failed = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.getMessage() for record in failed] == []


async def _end() -> None:
    """End what still runs, as when the process ends."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


Program = Callable[..., IMAPClient]


@pytest.fixture
def program(served: Place) -> Iterator[Program]:
    """Return a function that signs a mail program in as somebody, with a token of theirs."""
    clients: list[IMAPClient] = []

    def sign_in(owner: User, *, secret: str | None = None, name: str = "") -> IMAPClient:
        client = connect(served)
        clients.append(client)
        if secret is None:
            secret = make_token(owner, "phone", ["imap"], 7)[1]
        client.login(name or owner.get_username(), secret)
        return client

    yield sign_in
    for client in clients:
        if client._imap.state != "LOGOUT":
            client.shutdown()


def connect(served: Place) -> IMAPClient:
    """Return a mail program that has not signed in."""
    port, authority = served
    context = ssl.create_default_context(cafile=str(authority))
    return IMAPClient("127.0.0.1", port, ssl_context=context, timeout=60)
