"""The lookups for a domain that is in no table, all at once, and which of their answers counts.

    SRV ─ MX of a provider in the table ─ autoconfig ─ usual names that answer TLS

Each looks for a few seconds at most.  One that tries a connection and gets none takes all of
these: so nobody learns from a duration which hosts there are inside (tapestry.servers.connection).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from tapestry.core.log import event
from tapestry.servers.connection import SECONDS, wait_until
from tapestry.servers.discovery import autoconfig
from tapestry.servers.discovery.dns_records import Records
from tapestry.servers.discovery.providers import provider_by_mx
from tapestry.servers.discovery.server_settings import Protocol, ServerSettings, host_name
from tapestry.servers.discovery.verification import first_that_answers
from tapestry.servers.web_request import get_over_https

Way = Literal["provider", "srv", "autoconfig", "mx", "name"]

DNS_SECONDS = 4.0
"""Seconds for one question to a name server."""

USUAL_NAMES: dict[Protocol, tuple[tuple[str, ...], int]] = {
    "imap": (("imap", "mail"), 993),
    "smtp": (("smtp", "mail"), 465),
}
"""The names that hosts of mail have below a domain, and their port with TLS."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """A server that was found, and by which way; the name of its provider if the table has it."""

    settings: ServerSettings
    way: Way
    provider: str = ""


@dataclass(frozen=True)
class Network:
    """The reach of lookups: name servers, and hosts that are public or allowed.

    ``places`` are the addresses of autoconfig files, with ``{domain}`` in them.
    """

    allowed: Sequence[str]
    records: Records = field(default_factory=Records)
    places: Sequence[str] = autoconfig.PLACES


def discover(domain: str, protocol: Protocol, network: Network) -> Discovered | None:
    """Return the server of a domain, in lower case and ASCII; None if none is found.

    It takes about ``SECONDS`` at most, and sends nothing but the domain.
    """
    if not host_name(domain):
        return None
    pool = ThreadPoolExecutor(4, "discover")
    try:
        ways = [
            pool.submit(way, domain, protocol, network)
            for way in (_by_srv, _by_mx, _by_autoconfig, _by_name)
        ]
        answers = (way.result() for way in ways)
        discovered = next((answer for answer in answers if answer is not None), None)
    finally:
        # What has not answered yet ends by itself, by its deadline.
        pool.shutdown(wait=False, cancel_futures=True)
    event("discovered", protocol=protocol, way=discovered.way if discovered else "none")
    return discovered


def _by_srv(domain: str, protocol: Protocol, network: Network) -> Discovered | None:
    servers = network.records.servers(domain, protocol, DNS_SECONDS)
    answering = first_that_answers(servers, protocol, network.allowed)
    return Discovered(answering, "srv") if answering else None


def _by_autoconfig(domain: str, protocol: Protocol, network: Network) -> Discovered | None:
    deadline = time.monotonic() + SECONDS

    def get(url: str) -> bytes | None:
        seconds = (deadline - time.monotonic()) / 2
        most = autoconfig.MOST_BYTES
        return get_over_https(url, allowed=network.allowed, seconds=seconds, most_bytes=most)

    server = autoconfig.autoconfig(domain, protocol, get, network.places)
    if server is not None:
        return Discovered(server, "autoconfig")
    wait_until(deadline)
    return None


def _by_mx(domain: str, protocol: Protocol, network: Network) -> Discovered | None:
    provider = provider_by_mx(network.records.mail_exchangers(domain, DNS_SECONDS))
    if provider is None:
        return None
    return Discovered(provider.settings(protocol), "mx", provider.name)


def _by_name(domain: str, protocol: Protocol, network: Network) -> Discovered | None:
    names, port = USUAL_NAMES[protocol]
    hosts = [ServerSettings(f"{name}.{domain}", port) for name in names]
    answering = first_that_answers(hosts, protocol, network.allowed)
    return Discovered(answering, "name") if answering else None
