"""A real HTTP server on loopback that keeps what it was sent and answers as it was told."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOOPBACK = ["127.0.0.0/8"]
"""What an operator writes to allow these servers."""


@dataclass(frozen=True)
class Reply:
    """What the server answers; with status 0 it cuts the line after it has taken the request."""

    status: int = 204
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What the server was sent, and the status of its answer."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    status: int = 204


@dataclass
class Recorder:
    """The server: its address, what it was sent, and its replies, the last of which stays."""

    port: int
    scheme: str
    replies: list[Reply]
    requests: list[Request] = field(default_factory=list)

    def url(self, path: str = "/hook", host: str = "127.0.0.1") -> str:
        """Return the address of a path on the server."""
        return f"{self.scheme}://{host}:{self.port}{path}"


@contextmanager
def recording_server(*replies: Reply, authority: Any = None, host: str = "") -> Iterator[Recorder]:
    """Run a server in a thread; ``authority`` (of trustme) gives it a certificate for ``host``."""
    recorder = Recorder(0, "https" if authority else "http", list(replies) or [Reply()])

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True

        def do_GET(self):
            self.do_POST()

        def do_PROPFIND(self):
            self.do_POST()

        def do_REPORT(self):
            self.do_POST()

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = recorder.replies[0] if len(recorder.replies) == 1 else recorder.replies.pop(0)
            recorder.requests.append(Request(self.path, dict(self.headers), body, reply.status))
            if not reply.status:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status != 204:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format, *arguments):
            """Write nothing to the terminal."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            """Write nothing to the terminal when a client does not trust the certificate."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if authority:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(host).configure_cert(context)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        recorder.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield recorder
        finally:
            server.shutdown()
            thread.join()
