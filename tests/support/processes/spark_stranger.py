"""What somebody on this machine can send to the ports that a Spark has for its executors."""

from __future__ import annotations

import socket
import struct

ENDPOINT = "LocalSchedulerBackendEndpoint"
"""The endpoint of the driver that runs the tasks, where the driver is the executor."""

STOP_EXECUTOR = bytes.fromhex(
    "aced0005737200267363616c612e72756e74696d652e4d6f64756c6553657269616c697a6174696f6e50726f7879"
    "00000000000000010200014c000b6d6f64756c65436c6173737400114c6a6176612f6c616e672f436c6173733b78"
    "707672002e6f72672e6170616368652e737061726b2e7363686564756c65722e6c6f63616c2e53746f7045786563"
    "75746f72246679915b415816fa0200007870"
)
"""Java's serialization of the message by which Spark 4.3 ends its executor."""

RPC_REQUEST, RPC_RESPONSE = 3, 4
"""Types of messages of Spark's network protocol."""


def stop_executor(port: int, timeout: float = 60.0) -> bytes:
    """Ask a driver to end its executor, without a secret; return what it answers.

    A driver that does so answers with a message of type ``RPC_RESPONSE``.  One that refuses
    closes the connection, or answers with a failure.
    """
    to = b"\x00" + b"\x01" + _utf("127.0.0.1") + struct.pack(">i", port) + _utf(ENDPOINT)
    return exchange(port, rpc_request(to + STOP_EXECUTOR), timeout)


def rpc_request(body: bytes) -> bytes:
    """Return the frame of a request: its length, its type, its number, its body."""
    message = struct.pack(">bqi", RPC_REQUEST, 1, len(body)) + body
    return struct.pack(">q", 8 + len(message)) + message


def exchange(port: int, sent: bytes, timeout: float = 60.0) -> bytes:
    """Send bytes to a port of loopback, and return the first that come back; none if none do."""
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        connection.sendall(sent)
        try:
            return connection.recv(65536)
        except (TimeoutError, ConnectionError):
            return b""


def is_response(answer: bytes) -> bool:
    """Return whether bytes are the answer of a driver that has done what it was asked."""
    return answer[8:9] == bytes([RPC_RESPONSE])


def _utf(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()
