"""Connections to hosts that people name: to a checked address, and failures that tell nothing.

    look the host up ─> check every address ─> connect to one of these ─> TLS ─> protocol

The connection is made to the very address that was checked: looking the name up again could give
another one (DNS rebinding).  TLS verifies the host's name all the same.

Until TLS is up, all that may fail has one sentence and takes one time.  So nobody learns from a
failure which hosts and ports there are inside: neither from words nor by a timing side channel.
The log says what it was.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial

from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.processes.thread_call import begin_call
from tapestry.servers.account import Account, ConnectionLostError, RefusedError
from tapestry.servers.private_hosts import (
    IPAddress,
    Resolver,
    addresses_to_reach,
    resolve_host,
)

MOST_ADDRESSES = 4

SECONDS = 10.0
"""For a connection to a host that a person names, TLS included; a failure is told after these."""


class UnreachableError(ConnectionLostError):
    """There is no connection with TLS; why, only the log says."""


@contextmanager
def reached(account: Account, timeout: float) -> Iterator[socket.socket]:
    """Yield a socket that is connected to an account's server; TLS is begun in the block.

    Where the account is the operator's own, errors pass, and ``timeout`` is seconds an answer.
    Otherwise all errors of the block, except a refusal in words, are raised as UnreachableError
    once ``SECONDS`` are over.  The socket is closed if the block fails.
    """
    begun = time.monotonic()
    seconds = timeout if account.is_operators else SECONDS
    deadline = begun + seconds
    try:
        opened = open_socket(account.host, account.port, account.allowed, deadline)
        limit = nullcontext() if account.is_operators else shut_down_at(deadline, opened)
        try:
            with limit:
                opened.settimeout(min(timeout, seconds))
                yield opened
        except BaseException:
            opened.close()
            raise
    except RefusedError:
        raise
    except (OSError, TapestryError) as error:
        if account.is_operators:
            raise
        event("unreachable", host=account.host, port=account.port, reason=_reason(error))
        wait_until(deadline)
        raise unreachable(account.where) from None


def unreachable(where: str) -> UnreachableError:
    """Return the error that stands for all that may fail before TLS is up."""
    return UnreachableError(
        f"There is no connection with {where}.",
        hint="Check host, port and connection security, and that the server runs. A host that is "
        "not public must be allowed by who runs this site (TAPESTRY_PRIVATE_HOSTS).",
    )


def open_socket(
    host: str,
    port: int,
    allowed: Sequence[str],
    deadline: float,
    resolve: Resolver = resolve_host,
) -> socket.socket:
    """Connect to a host whose addresses are all public or allowed.

    Raise AddressRefusedError if one is not, OSError if there is no connection by the deadline.
    """
    resolved = resolved_in_time(host, port, resolve, deadline)
    return connected_socket(addresses_to_reach(host, resolved, allowed), port, deadline)


def resolved_in_time(host: str, port: int, resolve: Resolver, deadline: float) -> Sequence[str]:
    """Look a host up in a thread of its own, for the system's resolver has no time limit."""
    resolved = begin_call(partial(resolve, host, port), "resolve")
    # The error of a Future that took too long is an OSError.
    return resolved.result(timeout=max(0.0, deadline - time.monotonic()))


def connected_socket(addresses: Sequence[IPAddress], port: int, deadline: float) -> socket.socket:
    """Return a socket connected to the first address that accepts; each gets a fair share.

    Raise the error of the last one if none does.
    """
    failure = OSError("no address accepts a connection")
    few = addresses[:MOST_ADDRESSES]
    for left in range(len(few), 0, -1):
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            break
        try:
            opened = socket.create_connection((str(few[-left]), port), timeout=remaining / left)
        except OSError as error:
            failure = error
        else:
            opened.settimeout(remaining)
            return opened
    raise failure


@contextmanager
def shut_down_at(deadline: float, opened: socket.socket) -> Iterator[None]:
    """Shut a connection down at the deadline: whoever reads or writes goes on with an end."""
    connection = opened.dup()

    def shut_down() -> None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), shut_down)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        connection.close()


def limited(opened: socket.socket, seconds: float | None) -> AbstractContextManager[None]:
    """Shut a connection down after so many seconds, if there is a limit."""
    return nullcontext() if seconds is None else shut_down_at(time.monotonic() + seconds, opened)


def wait_until(deadline: float) -> None:
    """Sleep until an instant of the monotonic clock."""
    time.sleep(max(0.0, deadline - time.monotonic()))


def _reason(error: Exception) -> str:
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return str(cause) or type(cause).__name__
