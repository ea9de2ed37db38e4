"""The address of a client: that of the connection, or what a trusted proxy says."""

from __future__ import annotations

import ipaddress
import re

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "unknown"
"""The address of a connection that has none: all of them are counted together."""

NETWORK = 64
"""Bits of an IPv6 address that are counted as one client: providers give out no less."""

WITH_PORT = re.compile(r"\[(?P<v6>[^]]+)\](:\d+)?|(?P<v4>[\d.]+):\d+")


def client_address(request: HttpRequest) -> str:
    """Return the address that a request comes from, in canonical form.

    Each proxy adds the address that it was reached from at the end of ``X-Forwarded-For``.  With
    ``TAPESTRY_PROXIES`` of them, the entry that counts is as far from its end; those before it are
    what the client says.  If there are fewer entries, the request did not come through all
    proxies, and the address of the connection counts.
    """
    entries = request.headers.get("X-Forwarded-For", "").split(",")
    proxies: int = settings.PROXIES
    said = entries[-proxies] if 0 < proxies <= len(entries) else ""
    return _canonical(said) or _canonical(request.META.get("REMOTE_ADDR") or "") or UNKNOWN


def counted_as(address: str) -> str:
    """Return what an address is counted as: an IPv6 address as its network.

    >>> counted_as("192.0.2.7"), counted_as("2001:db8:1:2:3:4:5:6"), counted_as("unknown")
    ('192.0.2.7', '2001:db8:1:2::/64', 'unknown')
    """
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address, NETWORK), strict=False))


def _canonical(text: str) -> str:
    """Return an address without port and zone, or nothing if it is none.

    >>> [_canonical(text) for text in (" 192.0.2.7:4711", "[2001:DB8::1]:80", "::ffff:192.0.2.7")]
    ['192.0.2.7', '2001:db8::1', '192.0.2.7']
    >>> _canonical("fe80::1%eth0"), _canonical("hidden")
    ('fe80::1', '')
    """
    text = text.strip()
    if found := WITH_PORT.fullmatch(text):
        text = found["v6"] or found["v4"]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    return str(getattr(address, "ipv4_mapped", None) or address)
