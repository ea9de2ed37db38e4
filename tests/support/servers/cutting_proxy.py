"""A proxy of TCP, with TLS if it has a certificate, that cuts what goes through it."""

from __future__ import annotations

import asyncio
import ssl
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class CuttingProxy:
    """Passes bytes on between its port and another of this machine, until they are cut."""

    def __init__(self, to: int) -> None:
        self.to, self.port, self.cuts = to, 0, 0
        self.loop = asyncio.new_event_loop()
        self._open: set[StreamWriter] = set()

    def cut(self) -> None:
        """End all connections, in the midst of what they say."""
        asyncio.run_coroutine_threadsafe(self._cut(), self.loop).result(60)

    async def _cut(self) -> None:
        self.cuts += len(self._open)
        for writer in self._open:
            writer.transport.abort()

    async def end(self) -> None:
        self._server.close()
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def listen(self, tls: ssl.SSLContext | None) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(OSError):
            back, to = await asyncio.open_connection("127.0.0.1", self.to)
            self._open |= {writer, to}
            await asyncio.gather(_pass_on(reader, to), _pass_on(back, writer))
            self._open -= {writer, to}


async def _pass_on(reader: StreamReader, writer: StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    writer.close()


@contextmanager
def cutting_proxy(to: int, tls: ssl.SSLContext | None = None) -> Iterator[CuttingProxy]:
    """Run a proxy to a port of this machine."""
    proxy = CuttingProxy(to)
    proxy.loop.run_until_complete(proxy.listen(tls))
    serving = threading.Thread(target=proxy.loop.run_forever)
    serving.start()
    try:
        yield proxy
    finally:
        proxy.cut()
        proxy.loop.call_soon_threadsafe(proxy.loop.stop)
        serving.join()
        proxy.loop.run_until_complete(proxy.end())
        proxy.loop.close()
