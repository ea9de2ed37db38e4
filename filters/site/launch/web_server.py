"""The web server: waitress, which takes a thread only for a request that is there as a whole.

    accept ─ whole request (buffered) ─> one of THREADS threads ─ response (buffered) ─> client

A proxy stands in front of it wherever strangers can connect (OPERATING): that bounds how slow a
client may be.  `python -m filters.site.launch.web_server PORT [ADDRESS]` serves on loopback, and at
another address if one is named.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from waitress.server import create_server

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"

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
    "trusted_proxy_headers": "x-forwarded-proto",
    # What else a proxy says goes to the site, which knows how many proxies there are.
    "clear_untrusted_proxy_headers": False,
}


def serve(
    application: Callable[..., Any], port: int, address: str = LOOPBACK, proxy: str = LOOPBACK
) -> None:
    """Serve a WSGI application on loopback and ``address`` until SIGTERM; let its threads finish.

    ``proxy`` is the address of the one that says whether its client came by https; * for any.
    """
    signal.signal(signal.SIGTERM, _exit)
    listen = " ".join(f"{_in_url(place)}:{port}" for place in places(address))
    create_server(application, listen=listen, trusted_proxy=proxy, **SETTINGS).run()


def places(address: str) -> list[str]:
    """Return where the pages are served: at an address, and on loopback as `up` asks there.

    >>> places("127.0.0.1"), places("0.0.0.0"), places("::")
    (['127.0.0.1'], ['0.0.0.0'], ['127.0.0.1', '::'])
    """
    return [address] if address in {LOOPBACK, EVERYWHERE} else [LOOPBACK, address]


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _exit(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    from django.conf import settings

    from tapestry.wsgi import application

    port, address = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else LOOPBACK
    # Elsewhere a proxy has an address of its own, and that there is one is said by a setting.
    serve(application, port, address, "*" if settings.PROXIES else LOOPBACK)
