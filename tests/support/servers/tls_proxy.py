"""A proxy that ends TLS: what comes by it goes to another port of this machine as it is."""

from __future__ import annotations

import asyncio
import ssl
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def tls_proxy(to: int, tls: ssl.SSLContext, host: str = "127.0.0.1") -> Iterator[int]:
    """Serve until the end of the block, and yield the port."""

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            back, server = await asyncio.open_connection("127.0.0.1", to)
            await asyncio.gather(_pass_on(reader, server), _pass_on(back, writer))

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, host, 0, ssl=tls))
    serving = threading.Thread(target=loop.run_forever)
    serving.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        serving.join()
        server.close()
        loop.run_until_complete(_end())
        loop.close()


async def _pass_on(reader: StreamReader, writer: StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    writer.close()


async def _end() -> None:
    while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
