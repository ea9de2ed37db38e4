"""The process that serves IMAP: TLS, limits on what a stranger may make it hold, connections."""

from __future__ import annotations

import asyncio
import logging
import signal
import ssl
from argparse import Namespace
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing, suppress
from secrets import token_bytes

from proxyprotocol.sock import SocketInfo
from pymap.bytes import WriteStream
from pymap.concurrent import Event
from pymap.config import BackendCapability, IMAPConfig
from pymap.context import connection_exit
from pymap.imap import IMAPConnection
from pymap.imap.state import ConnectionState
from pymap.parsing.command import Command
from pymap.parsing.command.select import IdleCommand
from pymap.parsing.response import Response, ResponseBye
from pysasl.hashing import BuiltinHash

from filters.imap.commands import Commands, State
from filters.imap.contents import draining
from filters.imap.login import Login
from filters.site.settings.imap import PLACE, ImapPlace
from tapestry.core.errors import TapestryError

log = logging.getLogger(__name__)

LONGEST_COMMAND = 64 * 1024
"""Bytes of a command with its literals: a list of UIDs is long, and nothing is put here."""

PATIENCE = 60.0
"""Seconds in which a program must sign in, and end a command that it has begun."""

IDLE_SECONDS = 30 * 60.0
"""Seconds without a command after which a signed-in program is let go (RFC 3501, 5.4)."""

MOST_CONNECTIONS = 500

PACKET = 16 * 1024
"""Bytes that are sent together: as many as one record of TLS has at most (RFC 8446, 5.1)."""

RELOAD = 3600.0
"""Seconds between two readings of the certificate: it is renewed while the server runs."""


OFFERED = (b"BINARY", b"UIDPLUS", b"CHILDREN", b"ESEARCH", b"PARTIAL", b"APPENDLIMIT=0")
"""Capabilities beside those of IMAP4rev1."""


class Config(IMAPConfig):
    """What is offered: reading and waiting, by name and token; nothing is put here."""

    def __init__(self) -> None:
        super().__init__(
            Namespace(passlib_cfg=None, proxy_protocol=None),
            host=None,
            port=0,
            tls_enabled=False,
            reject_dnsbl=False,
            max_append_len=0,
            bad_command_limit=10,
            hash_context=BuiltinHash(),
        )

    @property
    def greeting(self) -> bytes:
        return b"Tapestry is ready."

    @property
    def backend_capability(self) -> BackendCapability:
        return BackendCapability(idle=True, object_id=False, multi_append=False)

    @property
    def login_capability(self) -> Sequence[bytes]:
        return [*OFFERED, *self.backend_capability]


class TooLongError(Exception):
    """A command is longer than any here."""


class CommandReader(StreamReader):
    """What a program sends, of which a command may be so long, and take so much time."""

    def __init__(self, stream: StreamReader) -> None:
        super().__init__()
        self._stream = stream
        self._left, self._until = LONGEST_COMMAND, 0.0

    def begin(self, until: float) -> None:
        """Begin a command, which must be there at an instant of the loop's clock."""
        self._left, self._until = LONGEST_COMMAND, until

    def end(self) -> None:
        """Have whoever waits for more learn that there is none."""
        self._stream.feed_eof()

    async def readline(self) -> bytes:
        """Return a line; TooLongError if the command is too long by it."""
        try:
            async with asyncio.timeout_at(self._until):
                line = await self._stream.readline()
        except ValueError as error:
            raise TooLongError from error
        return self._counted(line)

    async def readexactly(self, n: int) -> bytes:
        """Return so many bytes, of a literal; TooLongError before one that is too long is read."""
        if n > self._left:
            raise TooLongError
        async with asyncio.timeout_at(self._until):
            return self._counted(await self._stream.readexactly(n))

    def _counted(self, part: bytes) -> bytes:
        self._left -= len(part)
        if self._left < 0:
            raise TooLongError
        return part


class Packets(WriteStream):
    """What is written in many small parts, and sent in few packets."""

    def __init__(self, writer: StreamWriter) -> None:
        self._writer, self._parts = writer, bytearray()

    def write(self, data: bytes) -> None:
        self._parts += data
        if len(self._parts) >= PACKET:
            self.send()

    def send(self) -> None:
        """Send what has been written by now."""
        self._writer.write(bytes(self._parts))
        self._parts.clear()


class Connection(IMAPConnection):
    """A connection that holds little for a stranger, and waits for nobody for ever."""

    __slots__ = ("_begun", "_commands")

    def __init__(self, config: Config, reader: StreamReader, writer: StreamWriter) -> None:
        self._begun = asyncio.get_running_loop().time()
        self._commands = CommandReader(reader)
        info = SocketInfo.get(writer, None, unique_id=token_bytes(8))
        super().__init__(Commands(), config, self._commands, writer, info)

    async def read_command(self, state: ConnectionState) -> Command:
        now = asyncio.get_running_loop().time()
        signed_in = hasattr(state, "session")
        self._commands.begin(now + IDLE_SECONDS if signed_in else self._begun + PATIENCE)
        try:
            return await super().read_command(state)
        except TooLongError as error:
            await self.write_response(ResponseBye(b"This command is too long."))
            raise EOFError from error
        except TimeoutError as error:
            await self.write_response(ResponseBye(b"Nothing was heard for too long."))
            raise EOFError from error

    async def write_response(self, resp: Response) -> None:
        """Send a response, which is written once: not a second time for the log."""
        packets = Packets(self.writer)
        with suppress(ConnectionError):
            await resp.async_write(packets)
            packets.send()
            await self.writer.drain()

    async def handle_updates(self, state: ConnectionState, done: Event, cmd: IdleCommand) -> None:
        """Send what is new until the program has heard enough; end the wait where that fails."""
        try:
            await super().handle_updates(state, done, cmd)
        except BaseException:
            self._commands.end()
            raise


class Server:
    """Serves connections, each apart from the others: an error ends the one that it is of."""

    def __init__(self) -> None:
        self._login, self._config = Login(), Config()
        self._open = 0

    async def __call__(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve a connection to its end."""
        if self._open >= MOST_CONNECTIONS:
            writer.write(b"* BYE Too many programs are connected. Try again later.\r\n")
            writer.close()
            return
        self._open += 1
        try:
            await self._serve(reader, writer)
        except (OSError, TimeoutError, TooLongError, EOFError) as error:
            log.info("An IMAP connection ended: %s", type(error).__name__)
        except Exception:
            log.exception("An IMAP connection failed.")
        finally:
            self._open -= 1

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._config.apply_context()
        connection = Connection(self._config, reader, writer)
        draining.set(writer.drain)
        async with AsyncExitStack() as stack:
            connection_exit.set(stack)
            stack.enter_context(closing(connection))
            await connection.run(State(self._login, self._config))


async def listen(place: ImapPlace, context: ssl.SSLContext | None) -> asyncio.Server:
    """Begin to serve at a place; OSError if that cannot be."""
    return await asyncio.start_server(
        Server(), place.host, place.port, ssl=context, limit=LONGEST_COMMAND
    )


async def serve(place: ImapPlace | None) -> None:
    """Serve until SIGTERM; TapestryError if there is no place for it, or no certificate."""
    if place is None:
        raise TapestryError("Mail programs have no place to connect.", hint=f"Set {PLACE}.")
    context = place.context()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with await listen(place, context):
        while not stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), RELOAD)
            place.renew(context)
