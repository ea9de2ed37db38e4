"""A line that can be cut: a proxy that hangs up after so many bytes of an answer."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class CuttingProxy:
    """Passes everything on to a port, until what it is told to cut has come.

    ``cuts`` are counts of bytes: each ends one connection, after as many from the server.
    ``cut_at`` ends one connection before the answer with these bytes is passed on.
    ``passed`` counts the bytes from the server since it was last set to 0.
    """

    def __init__(self, port: int) -> None:
        self.target = port
        self.cuts: list[int] = []
        self.cut_at: bytes | None = None
        self.passed = 0
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def hang_up(self) -> None:
        """Cut all lines there are."""
        while self._open:
            with suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        # Closing alone would not wake the one that waits there.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target), 60)
            except OSError:
                client.close()
                continue
            server.settimeout(None)  # who has nothing to say for a while is not cut off
            for line in (client, server):
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += [client, server]
            left = self.cuts.pop(0) if self.cuts else None
            for source, sink, limit in ((client, server, None), (server, client, left)):
                threading.Thread(
                    target=self._pass, args=(source, sink, limit, source is server), daemon=True
                ).start()

    def _pass(
        self, source: socket.socket, sink: socket.socket, left: int | None, count: bool
    ) -> None:
        with suppress(OSError):
            while data := source.recv(4096):
                if count:
                    self.passed += len(data)
                if count and self.cut_at is not None and self.cut_at in data:
                    self.cut_at = None
                    break
                if left is not None and len(data) >= left:
                    sink.sendall(data[:left])
                    break
                left = None if left is None else left - len(data)
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
