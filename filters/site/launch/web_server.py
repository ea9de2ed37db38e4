"""The web server: waitress, which takes a thread only for a request that is there as a whole.

    accept ─ whole request (buffered) ─> one of THREADS threads ─ response (buffered) ─> client

A proxy stands in front of it wherever strangers can connect (OPERATING): that bounds how slow a
client may be.  `python -m filters.site.launch.web_server PORT` serves on loopback.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from waitress.server import create_server

LONGEST_HEADER = 32 * 1024
LONGEST_BODY = 16 * 1024 * 1024
"""Bytes; a request with more is answered with 431 or 413.

Of a body this is the length of a bounce with the message in it; the site takes less in a form
(filters.site.web.limits).
"""

SETTINGS: dict[str, Any] = {
    "threads": 16,
    "connection_limit": 500,
    "channel_timeout": 15,
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


def serve(application: Callable[..., Any], port: int) -> None:
    """Serve a WSGI application on loopback until SIGTERM, then let its threads finish."""
    signal.signal(signal.SIGTERM, _exit)
    create_server(application, listen=f"127.0.0.1:{port}", **SETTINGS).run()


def _exit(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    from tapestry.wsgi import application

    serve(application, int(sys.argv[1]))
