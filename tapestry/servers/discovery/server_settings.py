"""The place of a mail server, and the user name for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from tapestry.servers.account import Method, Security

Protocol = Literal["imap", "smtp"]

ADDRESS, LOCAL_PART, DOMAIN = "%EMAILADDRESS%", "%EMAILLOCALPART%", "%EMAILDOMAIN%"
"""Placeholders for parts of an address in a user name, as Thunderbird's autoconfig writes them."""

_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+", re.ASCII)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """A server with TLS: ``user`` has placeholders for the parts of an address."""

    host: str
    port: int
    security: Security = "tls"
    user: str = ADDRESS
    method: Method = "password"

    def user_of(self, address: str) -> str:
        """Return the user name of an address.

        >>> ServerSettings("imap.x.org", 993, user=LOCAL_PART).user_of("joe@x.org")
        'joe'
        """
        local, _, domain = address.rpartition("@")
        # One pass: what an address brings in is not looked at again.
        parts = {ADDRESS: address, LOCAL_PART: local, DOMAIN: domain}
        return re.sub("|".join(parts), lambda found: parts[found[0]], self.user)

    def is_within(self, domain: str) -> bool:
        """Return whether the server's name is the domain, or below it.

        >>> ServerSettings("imap.x.org", 993).is_within("x.org")
        True
        """
        return f".{self.host}".endswith(f".{domain}")


def host_name(text: str) -> str:
    """Return the name of a host in lower case, empty if it is none that may be offered.

    >>> host_name("IMAP.x.org."), host_name("10.0.0.1"), host_name("imap")
    ('imap.x.org', '', '')
    """
    name = text.strip().lower().removesuffix(".")
    is_name = _HOST.fullmatch(name) and not name.rpartition(".")[2].isdigit()
    return name if is_name and len(name) <= 253 else ""
