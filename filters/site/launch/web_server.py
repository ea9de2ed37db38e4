"""The web server: waitress, with a deadline for each request and each response.

    accept ─ whole request (buffered) ─> one of THREADS threads ─ response (buffered) ─> client

A thread is taken only once a request is there as a whole, and is free again once the response is
written into a buffer.  So slow clients (Slowloris) keep no thread; they keep a connection, for a
time that is bounded.  Where all connections are taken, those that have waited longest without a
request of their own make room.

`python -m filters.site.launch.web_server PORT` serves on loopback.
"""

from __future__ import annotations

import resource
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, Task, WSGITask
from waitress.utilities import Error

from filters.site.web.headers import of_every_answer

THREADS = 16
MOST_CONNECTIONS = 500
SPARE = 10
"""Connections below the limit from which on each new one takes the place of another."""

MOST_FILES = 4096
"""Open files that the process asks for: a connection may have a buffer on disk as well."""

IDLE_SECONDS = 15.0
"""Without a byte in either direction, a connection that serves no request is closed."""

REQUEST_SECONDS = 30.0
"""From the first byte of a request to its last; after that it is answered with 408."""

RESPONSE_SECONDS = 600.0
"""From the last byte of a request until its response is read as a whole."""

LONGEST_HEADER = 32 * 1024
LONGEST_BODY = 16 * 1024 * 1024
"""Bytes; a request with more is answered with 431 or 413.

Of a body this is the length of a bounce with the message in it; the site takes less in a form
(filters.site.web.limits).
"""

TOO_LONG = (
    f"A request may have at most {LONGEST_BODY >> 20} MiB. "
    "Nothing was changed: go back, and send less at once."
)

SETTINGS: dict[str, Any] = {
    "threads": THREADS,
    "connection_limit": MOST_CONNECTIONS,
    "cleanup_interval": 1,
    "asyncore_use_poll": True,
    "max_request_header_size": LONGEST_HEADER,
    "max_request_body_size": LONGEST_BODY,
    "inbuf_overflow": 64 * 1024,
    "outbuf_overflow": 256 * 1024,
    # A response is buffered on disk as a whole: a slow reader of a long one keeps no thread.
    "outbuf_high_watermark": 1024**3,
    "ident": None,
    "trusted_proxy": "127.0.0.1",
    "trusted_proxy_headers": "x-forwarded-proto",
    # What else a proxy says goes to the site, which knows how many proxies there are.
    "clear_untrusted_proxy_headers": False,
}


class RequestTimeoutError(Error):
    """The answer to a request that did not come in time (RFC 9110, section 15.5.9)."""

    code = 408
    reason = "Request Timeout"


class Parser(HTTPRequestParser):
    """Reads a request; refuses one whose length is told in two ways (request smuggling)."""

    def parse_header(self, header_plus: bytes) -> None:
        """Raise ParsingError as RFC 9112, section 6.1, allows for such a request."""
        super().parse_header(header_plus)
        is_chunked = self.chunked or "TRANSFER_ENCODING" in self.headers
        if is_chunked and (self.version == "1.0" or "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Transfer-Encoding and Content-Length exclude each other")


class _Answer(Task):
    """What is written to a client.  Where the site did not answer, it gets the site's headers.

    So does what waitress answers for the site: an error of its own, a header of a proxy that it
    cannot read.  All that the site answers has a policy.
    """

    def build_response_header(self) -> bytes:
        """Return the head of the answer, with all headers that one of this site has."""
        given = {name.lower() for name, _ in self.response_headers}
        if "content-security-policy" not in given:
            missing = of_every_answer().items()
            self.response_headers += [pair for pair in missing if pair[0].lower() not in given]
        head: bytes = super().build_response_header()
        return head


class Page(_Answer, WSGITask):
    """What the site answers, or waitress for it."""


class Refusal(_Answer, ErrorTask):
    """What the server itself answers, in words."""

    def execute(self) -> None:
        """Write the answer; of a body that is too long it says what to do."""
        if self.request.error.code == 413:
            self.request.error.body = TOO_LONG
        super().execute()


class Connection(HTTPChannel):
    """A connection of a client.

    ``begun`` is when the first byte of the incomplete request came, ``asked`` when the last
    complete one did: the latter counts from the accept, where there has been none.
    """

    parser_class = Parser
    task_class = Page
    error_task_class = Refusal
    begun: float = 0.0

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.asked: float = self.creation_time

    def received(self, data: bytes) -> bool:
        """Take bytes of the client, and note when its request began and ended."""
        before = self.request
        taken: bool = super().received(data)
        now = time.time()
        if self.request is not before:
            self.begun = now
        if self.requests:
            self.asked = now
        return taken

    def expire(self, now: float) -> None:
        """Answer a request that takes too long; close a connection that reads too slowly."""
        if self.request is not None and not self.requests:
            if now - self.begun > REQUEST_SECONDS:
                self._time_out()
        elif self.total_outbufs_len and now - self.asked > RESPONSE_SECONDS:
            self.will_close = True

    def _time_out(self) -> None:
        with self.requests_lock:
            request = self.request
            if request is None or self.requests or self.will_close:
                return
            if not request.headers_finished:
                request.parse_header(b"GET / HTTP/1.0\r\n")
            error: Any = RequestTimeoutError(f"not here after {REQUEST_SECONDS:g} seconds")
            request.error = error
            request.completed = True
            self.request = None
            self.requests.append(request)
            self.server.add_task(self)


class Server(TcpWSGIServer):
    """The server; a new connection takes the place of the one that has waited longest."""

    channel_class = Connection

    def maintenance(self, now: float) -> None:
        """Close the connections that are idle, and end what takes too long; once a second."""
        super().maintenance(now)
        for connection in list(self.active_channels.values()):
            connection.expire(now)

    def handle_accept(self) -> None:
        """Accept a connection; if there is no room for another, close one that serves nothing."""
        super().handle_accept()
        if len(self._map) >= MOST_CONNECTIONS - SPARE:
            waiting = [c for c in self.active_channels.values() if not (c.requests or c.will_close)]
            if waiting:
                min(waiting, key=lambda connection: connection.asked).will_close = True


def serve(application: Callable[..., Any], port: int) -> None:
    """Serve a WSGI application on loopback until SIGTERM, then let its threads finish."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if most == resource.RLIM_INFINITY else min(MOST_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    signal.signal(signal.SIGTERM, _exit)
    named = {"listen": f"127.0.0.1:{port}", "channel_timeout": IDLE_SECONDS}
    server: Any = Server(application, adj=Adjustments(**named, **SETTINGS))
    server.run()


def _exit(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    from tapestry.wsgi import application

    serve(application, int(sys.argv[1]))
