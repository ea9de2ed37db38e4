"""DNS records of a domain that name servers: SRV (RFC 2782, RFC 6186, RFC 8314) and MX.

DNS is not authenticated: what is found is shown to a person, and used with TLS alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

from tapestry.servers.account import Security
from tapestry.servers.discovery.server_settings import Protocol, ServerSettings, host_name

SERVICES: dict[Protocol, tuple[tuple[str, Security], ...]] = {
    "imap": (("_imaps._tcp", "tls"), ("_imap._tcp", "starttls")),
    "smtp": (("_submissions._tcp", "tls"), ("_submission._tcp", "starttls")),
}
"""The services of each protocol, that with TLS from the start first (RFC 8314)."""

MOST_RECORDS = 20


@dataclass(frozen=True)
class Records:
    """The records that a resolver of dnspython finds; by default, that of the system."""

    resolver: Any = None

    @cached_property
    def _resolver(self) -> Any:
        from dns.resolver import Resolver  # late: the import takes a while

        return self.resolver or Resolver()

    def servers(self, domain: str, protocol: Protocol, seconds: float) -> list[ServerSettings]:
        """Return the servers of a domain by its SRV records, the preferred first.

        A target of “.” says that there is none (RFC 6186, section 3.4).
        """
        ranked = []
        for service, security in SERVICES[protocol]:
            for record in self._look_up(f"{service}.{domain}", "SRV", seconds):
                host = host_name(record.target.to_text())
                if host and record.port:
                    rank = (record.priority, security != "tls", -record.weight)
                    ranked.append((rank, ServerSettings(host, record.port, security)))
        return [settings for _, settings in sorted(ranked, key=itemgetter(0))]

    def mail_exchangers(self, domain: str, seconds: float) -> list[str]:
        """Return the hosts that take in the mail of a domain, the preferred first."""
        records = self._look_up(domain, "MX", seconds)
        ordered = sorted(records, key=lambda record: record.preference)
        return [record.exchange.to_text() for record in ordered]

    def _look_up(self, name: str, kind: str, seconds: float) -> list[Any]:
        """Return the records of a name, none if they cannot be had within so many seconds."""
        from dns.exception import DNSException

        try:
            # Absolute: no domain of this machine's own is tried.
            answer = self._resolver.resolve(f"{name}.", kind, lifetime=seconds, search=False)
        except (DNSException, OSError):
            return []
        return list(answer)[:MOST_RECORDS]
