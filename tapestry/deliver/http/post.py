"""One POST to an address that a person named: a checked host, no redirect, all of it limited.

    read_target ─ look the host up ─ checked_addresses ─ connect to one of these ─ answer

One deadline holds for all of it: at the deadline the connection is shut down, so a server that
sends a byte now and then keeps nobody longer.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from time import monotonic

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.http.retry_after import parse_retry_after
from tapestry.servers.connection import connected_socket, resolved_in_time, shut_down_at
from tapestry.servers.private_hosts import (
    IPAddress,
    Resolver,
    Target,
    checked_addresses,
    read_target,
    resolve_host,
)

MOST_BYTES = 1000
"""How much of an answer is read, where nothing else is said."""
SECONDS = 10.0


class NoAnswerError(TapestryError):
    """A request without an answer: it may be tried again.

    One sentence serves whatever went wrong, so that nobody learns from it which ports of a host
    are open.
    """


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said: ``text`` is the beginning of it, ``retry_after`` is in seconds."""

    status: int
    text: str
    retry_after: float | None = None

    @property
    def summary(self) -> str:
        """Return the status and the text in one line, for the owner of a destination.

        >>> Answer(503, "Come back later.").summary
        '503 Service Unavailable: Come back later.'
        """
        with suppress(ValueError):
            words = f"{self.status} {HTTPStatus(self.status).phrase}"
            return ": ".join(filter(None, (words, " ".join(self.text.split()))))
        return ": ".join(filter(None, (str(self.status), " ".join(self.text.split()))))


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allowed: Sequence[str],
    seconds: float = SECONDS,
    ca: str | None = None,
    most_bytes: int = MOST_BYTES,
    resolve: Resolver = resolve_host,
) -> Answer:
    """Send one POST and return the answer, whatever its status; no redirect is followed.

    ``allowed`` names networks and hosts beside the public ones (tapestry.servers.private_hosts),
    ``seconds`` limits all of it, ``ca`` is a file of certificate authorities in place of the
    system's, ``most_bytes`` is how much of the answer's body is read.

    Raise AddressRefusedError if nothing may be sent there, NoAnswerError if no answer came.
    """
    deadline = monotonic() + seconds
    target = read_target(url)
    tls = _tls(ca) if target.scheme == "https" else None
    no_answer = NoAnswerError(
        f"{target.host} gave no answer within {seconds:g} seconds.",
        hint="Check the address, and that its server takes a POST.",
    )
    try:
        resolved = resolved_in_time(target.host, target.port, resolve, deadline)
        addresses = checked_addresses(target, resolved, allowed)
        with _connection(target, addresses, deadline, tls) as connection:
            headers = {"Host": target.authority, "Connection": "close", **headers}
            connection.request("POST", target.path, body, headers)
            response = connection.getresponse()
            if monotonic() >= deadline:
                raise TimeoutError("the header fields of the answer were cut at the deadline")
            return _answer(response, most_bytes)
    except ssl.SSLCertVerificationError as error:
        raise NoAnswerError(
            f"The certificate of {target.host} is not to be trusted: {error.verify_message}.",
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise no_answer from error


class _OpenConnection(http.client.HTTPConnection):
    """HTTP over a socket that is connected; it never connects by itself, by the host's name."""

    def __init__(self, target: Target, opened: socket.socket) -> None:
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
            yield _OpenConnection(target, opened)
        else:
            name = target.host.rstrip(".")
            with tls.wrap_socket(opened, server_hostname=name) as encrypted:
                yield _OpenConnection(target, encrypted)


@lru_cache(maxsize=8)
def _tls(ca: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=ca)


def _answer(response: http.client.HTTPResponse, most_bytes: int) -> Answer:
    """Return the answer; once its status is there, an end that never comes changes nothing."""
    body = b""
    try:
        body = response.read(most_bytes)
    except http.client.IncompleteRead as error:
        body = error.partial[:most_bytes]
    except (OSError, http.client.HTTPException):
        pass
    text = "".join(
        character if character.isprintable() or character in "\n\t" else " "
        for character in body.decode("utf-8", "replace")
    )
    retry_after = parse_retry_after(response.getheader("Retry-After"), wall_clock())
    return Answer(response.status, text.strip(), retry_after)
