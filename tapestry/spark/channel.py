"""The connection with a Spark of our own: to 127.0.0.1, and only while our user listens there.

When a server ends, anybody may take its port.  By itself the client would connect anew, and send
the token and the mail of its next statement to whoever is there.  And ``localhost`` may be
``::1`` as well, where anybody may listen beside the server.
"""

from __future__ import annotations

from typing import Any

import grpc
from pyspark.errors import PySparkException
from pyspark.sql.connect.client.core import DefaultChannelBuilder

from tapestry.core.processes.listeners import is_strangers


class OwnChannelBuilder(DefaultChannelBuilder):  # type: ignore[misc]
    """Builds a channel to a server of a user on this machine; a stranger's is sent nothing."""

    def __init__(self, remote: str, user: int) -> None:
        super().__init__(remote)
        self._user = user

    @property
    def endpoint(self) -> str:
        """Return where to connect: the one address on which the server listens."""
        return f"ipv4:127.0.0.1:{self._port}"

    def toChannel(self) -> grpc.Channel:  # noqa: N802
        """Return a channel on which no call is made once a stranger listens."""
        self.add_interceptor(_Guard(int(self._port), self._user))
        return super().toChannel()


class _Guard(
    grpc.UnaryUnaryClientInterceptor,  # type: ignore[misc]
    grpc.UnaryStreamClientInterceptor,  # type: ignore[misc]
    grpc.StreamUnaryClientInterceptor,  # type: ignore[misc]
    grpc.StreamStreamClientInterceptor,  # type: ignore[misc]
):
    """Looks before each call who listens, and has it fail as on a server that is not there."""

    def __init__(self, port: int, user: int) -> None:
        self._port = port
        self._user = user

    def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        if is_strangers(self._port, self._user):
            raise PySparkException("Spark is gone, and another user listens at its port.")
        return continuation(details, request)

    intercept_unary_unary = _call
    intercept_unary_stream = _call
    intercept_stream_unary = _call
    intercept_stream_stream = _call
