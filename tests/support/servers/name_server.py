"""A DNS server on loopback that knows what a test tells it (RFC 1035, over UDP)."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset


@dataclass
class NameServer:
    """Records by name and type, as a zone file writes them, and the names it was asked for."""

    port: int = 0
    records: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def resolver(self) -> dns.resolver.Resolver:
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers, resolver.port = ["127.0.0.1"], self.port
        return resolver

    def answer(self, raw: bytes) -> bytes:
        query = dns.message.from_wire(raw)
        question = query.question[0]
        name, kind = question.name.to_text(omit_final_dot=True), question.rdtype
        self.asked.append(name)
        response = dns.message.make_response(query)
        texts = self.records.get((name, dns.rdatatype.to_text(kind)))
        if texts is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        else:
            response.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, *texts))
        return response.to_wire()


@contextmanager
def running_name_server(records: dict[tuple[str, str], list[str]]) -> Iterator[NameServer]:
    server = NameServer(records=records)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        server.port = listener.getsockname()[1]

        def serve() -> None:
            while True:
                raw, client = listener.recvfrom(4096)
                if not raw:
                    return
                listener.sendto(server.answer(raw), client)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", ("127.0.0.1", server.port))
            thread.join()
