"""Where matches come to: a mail server, a webhook, a mail program that waits, an assistant.

Each notes when the message of each Message-ID was there.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import urllib3
import uvicorn
from aiosmtpd.controller import Controller
from anyio.from_thread import BlockingPortal, start_blocking_portal
from imapclient import IMAPClient
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tapestry.client.assistant import LISTS
from tapestry.client.assistant_http import app_of
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port

LAST_SECONDS = 60.0
"""Seconds that a message may take; one that takes longer ends the measurement."""


class Arrivals:
    """When the message of each Message-ID came, or a list first changed after an instant."""

    def __init__(self) -> None:
        self._instants: dict[str, list[float]] = {}
        self._came = threading.Condition()

    def note(self, name: str) -> None:
        with self._came:
            self._instants.setdefault(name.strip("<>"), []).append(time.monotonic())
            self._came.notify_all()

    def wait_for(self, name: str, began: float) -> float:
        """Return the seconds until it came; TapestryError if it does not in LAST_SECONDS."""

        def first() -> float | None:
            return next((at for at in self._instants.get(name, ()) if at > began), None)

        with self._came:
            at = self._came.wait_for(first, LAST_SECONDS)
            if at is None:
                raise TapestryError(f"A message did not come in {LAST_SECONDS:.0f} seconds.")
            return at - began


@contextmanager
def smtp_server() -> Iterator[tuple[int, Arrivals]]:
    """Run an SMTP server; yield its port."""
    arrivals, port = Arrivals(), free_port()

    class Handler:
        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
            arrivals.note(str(message_from_bytes(envelope.content)["Message-ID"]))
            return "250 OK"

    controller = Controller(Handler(), "127.0.0.1", port)
    controller.start()
    try:
        yield port, arrivals
    finally:
        controller.stop()


@contextmanager
def webhook() -> Iterator[tuple[str, Arrivals]]:
    """Run a server that takes matches as JSON; yield its address."""
    arrivals = Arrivals()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            for match in body["matches"]:
                arrivals.note(match["msgid"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", arrivals
    finally:
        server.shutdown()


@contextmanager
def mail_program(port: int, name: str, secret: str) -> Iterator[Arrivals]:
    """Have a mail program wait (IDLE) in a person's INBOX."""
    arrivals, ended = Arrivals(), threading.Event()
    client = IMAPClient("127.0.0.1", port, ssl=False, timeout=60)
    client.login(name, secret)
    client.select_folder("INBOX")

    def wait() -> None:
        client.idle()
        while not ended.is_set():
            told = [line for line in client.idle_check(timeout=1) if line[1:2] == (b"EXISTS",)]
            for number, _ in told:
                arrivals.note(str(number))

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield arrivals
    finally:
        ended.set()
        thread.join()
        client.shutdown()


@contextmanager
def jmap_program(site: str, secret: str) -> Iterator[Arrivals]:
    """Have a program wait by an event source (RFC 8620, 7.3); noted are changes of Emails."""
    arrivals, ended = Arrivals(), threading.Event()
    headers = {"Authorization": f"Bearer {secret}"}
    session = urllib3.request("GET", f"{site}.well-known/jmap", headers=headers).json()
    given = {"{types}": "Email", "{closeafter}": "state", "{ping}": "0"}
    address = session["eventSourceUrl"]
    for name, value in given.items():
        address = address.replace(name, value)

    def wait() -> None:
        known, retry = "", 0.0
        while not ended.wait(retry):
            asked = headers | {"Last-Event-ID": known}
            answer = urllib3.request("GET", address, headers=asked, timeout=LAST_SECONDS)
            pairs = (line.partition(": ")[::2] for line in answer.data.decode().splitlines())
            fields = dict(pairs)
            retry = int(fields["retry"]) / 1000
            if fields.get("id", known) != known:
                known = fields["id"]
                arrivals.note("Email")

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield arrivals
    finally:
        ended.set()
        thread.join()


@contextmanager
def assistant(site: str, secret: str, lists: list[str]) -> Iterator[Arrivals]:
    """Have an assistant subscribe to lists, over HTTP; noted are their addresses."""
    arrivals = Arrivals()
    server = uvicorn.Server(uvicorn.Config(app_of(site), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.1)
    port = server.servers[0].sockets[0].getsockname()[1]

    async def listen(news: Any) -> None:
        with suppress(StopAsyncIteration):
            while True:
                arrivals.note(str((await anext(news)).uri).removeprefix(LISTS))

    with start_blocking_portal() as portal, ExitStack() as stack:
        client = _entered(stack, portal, _client(f"http://127.0.0.1:{port}/mcp", secret))
        uris = [LISTS + name for name in lists]
        news = _entered(stack, portal, client.listen(resource_subscriptions=uris))
        listening = portal.start_task_soon(listen, news)
        try:
            yield arrivals
        finally:
            listening.cancel()
    server.should_exit = True
    thread.join()


def _entered(stack: ExitStack, portal: BlockingPortal, manager: Any) -> Any:
    return stack.enter_context(portal.wrap_async_context_manager(manager))


@asynccontextmanager
async def _client(address: str, secret: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client
