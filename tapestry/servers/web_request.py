"""One request to a web server that a person named: a checked host, and one deadline for all of it.

    read_target ─ look the host up ─ checked_addresses ─ connect to one of these ─ response

At the deadline the connection is shut down, so a server that sends a byte now and then keeps
nobody longer.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from time import monotonic
from urllib.parse import urljoin

from tapestry.servers.account import Account
from tapestry.servers.connection import connected_socket, resolved_in_time, shut_down_at
from tapestry.servers.private_hosts import (
    AddressRefusedError,
    IPAddress,
    Resolver,
    Target,
    checked_addresses,
    read_target,
    resolve_host,
)

MOST_REDIRECTS = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def tls_for(target: Target, ca: str | None = None) -> ssl.SSLContext | None:
    """Return the context of TLS for a target, None for plain http.

    ``ca`` is a file of certificate authorities in place of the system's; raise OSError if it
    cannot be read.
    """
    return _tls(ca) if target.scheme == "https" else None


@contextmanager
def requested(
    method: str,
    target: Target,
    body: bytes | None,
    headers: Mapping[str, str],
    *,
    allowed: Sequence[str],
    deadline: float,
    tls: ssl.SSLContext | None,
    resolve: Resolver = resolve_host,
) -> Iterator[http.client.HTTPResponse]:
    """Send a request, and yield the response, whatever its status; no redirect is followed.

    ``deadline`` is an instant of the monotonic clock, ``tls`` is what ``tls_for`` returns.  Raise
    AddressRefusedError if nothing may be sent there, OSError or HTTPException without a response.
    """
    resolved = resolved_in_time(target.host, target.port, resolve, deadline)
    addresses = checked_addresses(target, resolved, allowed)
    with _connection(target, addresses, deadline, tls) as connection:
        headers = {"Host": target.authority, "Connection": "close", **headers}
        connection.request(method, target.path, body, headers)
        response = connection.getresponse()
        if monotonic() >= deadline:
            raise TimeoutError("the header fields of the answer were cut at the deadline")
        yield response


def get_over_https(
    url: str,
    *,
    allowed: Sequence[str],
    seconds: float,
    most_bytes: int,
    ca: str | None = None,
    resolve: Resolver = resolve_host,
) -> bytes | None:
    """Return what an https address has, None if it has nothing of at most so many bytes.

    A few redirects are followed, to https alone; the host of each is checked as the first is.
    """
    deadline = monotonic() + seconds
    tls = _tls(ca)
    for _ in range(1 + MOST_REDIRECTS):
        try:
            target = read_target(url)
            if target.scheme != "https":
                return None
            with requested(
                "GET",
                target,
                None,
                {},
                allowed=allowed,
                deadline=deadline,
                tls=tls,
                resolve=resolve,
            ) as response:
                if response.status in REDIRECTS:
                    url = urljoin(url, response.getheader("Location") or "")
                    continue
                body = response.read(most_bytes + 1) if response.status == 200 else b""
                # A connection that is shut down at the deadline looks like an end.
                is_whole = bool(body) and len(body) <= most_bytes and monotonic() < deadline
                return body if is_whole else None
        except (OSError, ValueError, http.client.HTTPException, AddressRefusedError):
            return None
    return None


class OpenConnection(http.client.HTTPConnection):
    """HTTP over a socket that is connected; it never connects by itself, by the host's name."""

    def __init__(self, target: Target | Account, opened: socket.socket) -> None:
        super().__init__(target.host, target.port)
        self.sock = opened
        self.auto_open = 0


@contextmanager
def _connection(
    target: Target, addresses: Sequence[IPAddress], deadline: float, tls: ssl.SSLContext | None
) -> Iterator[http.client.HTTPConnection]:
    opened = connected_socket(addresses, target.port, deadline)
    with opened, shut_down_at(deadline, opened):
        if tls is None:
            yield OpenConnection(target, opened)
        else:
            name = target.host.rstrip(".")
            with tls.wrap_socket(opened, server_hostname=name) as encrypted:
                yield OpenConnection(target, encrypted)


@lru_cache(maxsize=8)
def _tls(ca: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=ca)
