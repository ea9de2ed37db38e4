"""Hosts that the addresses people name may reach: no server-side request forgery (SSRF).

A person names an address, and this machine sends to it.  This machine reaches more than that
person does: itself, its network, the metadata service of its cloud.  So only public hosts are
sent to, and those that the operator allows.

What is checked is each IP address that the host's name resolves to, and the connection is made
to one of these (tapestry/servers/connection.py).  Looking the name up again for the connection
could give another address (DNS rebinding).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal, cast

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from tapestry.core.errors import TapestryError

IPAddress = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
"""Return the IP addresses of a host, as texts; raise OSError if it has none."""

LONGEST_URL = 2000

# The special-purpose registry of IANA (RFC 6890), multicast, and the metadata host of Azure.
_SPECIAL_4 = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # CGNAT
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast and reserved
        "168.63.129.16/32",
    )
)
# Of IPv6 only global unicast is public, except Teredo and its like, and documentation.
_GLOBAL_6 = ip_network("2000::/3")
_SPECIAL_6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_NAT64 = ip_network("64:ff9b::/96")
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?", re.ASCII)


class AddressRefusedError(TapestryError):
    """An address that nothing is sent to: trying again is of no use."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL as a request needs it: ``path`` has the query; an IPv6 ``host`` has no brackets."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return the Host field of a request (RFC 9110 section 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_default = self.port == (443 if self.scheme == "https" else 80)
        return host if is_default else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return scheme, host and port, the port only where it is not the scheme's (RFC 6454).

        >>> read_target("https://x.org:443/hook?a=b").origin
        'https://x.org'
        """
        return f"{self.scheme}://{self.authority}"


def read_target(url: str) -> Target:
    """Return the parts of a URL that a person wrote; nothing is looked up.

    >>> read_target("https://x.org:8443/hook?a=b")
    Target(scheme='https', host='x.org', port=8443, path='/hook?a=b')

    Raise AddressRefusedError if it is no http URL, or has a user name.
    """
    try:
        parsed = parse_url(url.strip()) if len(url) <= LONGEST_URL else None
    except LocationParseError:
        parsed = None
    host = (parsed.host or "").removeprefix("[").removesuffix("]") if parsed else ""
    named = _NAME.fullmatch(host) or _is_ip_address(host)
    if parsed is None or parsed.scheme not in ("http", "https") or not named or parsed.port == 0:
        raise AddressRefusedError(
            "This is not the address of a web server.",
            hint=f"Write one such as https://example.org/hook, at most {LONGEST_URL} characters.",
        )
    if parsed.auth is not None:
        raise AddressRefusedError(
            "An address with a user name or password in it is not accepted.",
            hint="Put a secret into the path or the query, such as https://example.org/hook/SECRET.",
        )
    scheme = cast(Literal["http", "https"], parsed.scheme)
    port = parsed.port or (443 if scheme == "https" else 80)
    return Target(scheme, host, port, parsed.request_uri)


def resolve_host(host: str, port: int) -> Sequence[str]:
    """Return the IP addresses of a host in the system's order; raise OSError if it has none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host} is not a host name") from error
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def is_public(address: IPAddress) -> bool:
    """Return whether an address is one that everybody can reach.

    An address that stands for an IPv4 address (mapped, 6to4, NAT64) is public if that is.

    >>> [is_public(ip_address(text)) for text in ("9.9.9.9", "10.0.0.1", "2002:a00:1::")]
    [True, False, False]
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_4)
    embedded = address.ipv4_mapped or address.sixtofour
    if address in _NAT64:
        embedded = IPv4Address(int(address) & 0xFFFFFFFF)
    if embedded is not None:
        return is_public(embedded)
    return address in _GLOBAL_6 and not any(address in network for network in _SPECIAL_6)


def is_allowed(host: str, address: IPAddress, allowed: Iterable[str]) -> bool:
    """Return whether the operator allows an address: ``allowed`` has networks and host names.

    >>> is_allowed("hooks.lan", ip_address("10.1.2.3"), ["10.1.0.0/16"])
    True

    Raise TapestryError if an entry is neither.
    """
    for entry in allowed:
        try:
            if address in ip_network(entry.strip(), strict=False):
                return True
        except ValueError:
            name = entry.strip().lower()
            if not _NAME.fullmatch(name) or name.replace(".", "").isdigit():
                raise TapestryError(
                    f"“{entry}” is neither a network nor the name of a host.",
                    hint="Write networks such as 10.1.0.0/16 and names such as hooks.example.org.",
                ) from None
            if name.rstrip(".") == host.rstrip("."):
                return True
    return False


def checked_addresses(
    target: Target, resolved: Sequence[str], allowed: Sequence[str]
) -> tuple[IPAddress, ...]:
    """Return the IP addresses that a target's host resolved to, if all of them may be reached.

    Plain http is for what the operator allows only.

    Raise AddressRefusedError if one is neither public nor allowed.
    """
    if target.scheme != "https":
        addresses = _addresses(resolved)
        if not all(is_allowed(target.host, address, allowed) for address in addresses):
            raise AddressRefusedError(
                "An address must begin with https://, so that nobody on the way can read along."
            )
    return addresses_to_reach(target.host, resolved, allowed)


def addresses_to_reach(
    host: str, resolved: Sequence[str], allowed: Sequence[str]
) -> tuple[IPAddress, ...]:
    """Return the IP addresses that a host resolved to, if all of them may be reached.

    Raise AddressRefusedError if one is neither public nor allowed.
    """
    addresses = _addresses(resolved)
    for address in addresses:
        if not (is_public(address) or is_allowed(host, address, allowed)):
            raise AddressRefusedError(
                f"{host} is not a public host, so nothing is sent to it.",
                hint="Who runs this site can allow it.",
            )
    return addresses


def _addresses(resolved: Sequence[str]) -> tuple[IPAddress, ...]:
    """Return addresses from their texts; one of IPv4 that is mapped to IPv6 is one of IPv4."""
    addresses = map(ip_address, resolved)
    return tuple(
        (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
        for address in addresses
    )


def _is_ip_address(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return not (isinstance(address, IPv6Address) and address.scope_id)
