"""Thunderbird's autoconfig: a file in which a domain says where its mail servers are.

https://autoconfig.DOMAIN/mail/config-v1.1.xml, or below https://DOMAIN/.well-known/.  It is asked
for over https alone, and without the address: the domain is all that its owner learns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from tapestry.servers.account import Method, Security
from tapestry.servers.discovery.server_settings import (
    ADDRESS,
    DOMAIN,
    LOCAL_PART,
    Protocol,
    ServerSettings,
    host_name,
)

Get = Callable[[str], bytes | None]
"""Return what an https address has, None if there is nothing that can be used."""

PLACES = (
    "https://autoconfig.{domain}/mail/config-v1.1.xml",
    "https://{domain}/.well-known/autoconfig/mail/config-v1.1.xml",
)
MOST_BYTES = 64 * 1024
"""Bytes of a file; those of real providers have a few thousand."""

_ELEMENTS: dict[Protocol, str] = {"imap": "incomingServer", "smtp": "outgoingServer"}
_SECURITY: dict[str, Security] = {"SSL": "tls", "STARTTLS": "starttls"}
_PORT = re.compile("[0-9]{1,5}", re.ASCII)
_USER = re.compile(rf"(?:{ADDRESS}|{LOCAL_PART}|{DOMAIN}|[A-Za-z0-9._@+-])+")


def autoconfig(
    domain: str, protocol: Protocol, get: Get, places: Sequence[str] = PLACES
) -> ServerSettings | None:
    """Return the server that the file of a domain prefers, None if there is no such file."""
    for place in places:
        raw = get(place.format(domain=domain))
        server = read_autoconfig(raw, domain, protocol) if raw else None
        if server is not None:
            return server
    return None


def read_autoconfig(raw: bytes, domain: str, protocol: Protocol) -> ServerSettings | None:
    """Return the first server with TLS of a file, None if it has none or cannot be read.

    A file that names other domains alone is not about this one.  Entities and DTDs are refused,
    before any is expanded.
    """
    if len(raw) > MOST_BYTES:
        return None
    try:
        root = fromstring(raw, forbid_dtd=True)
    except (DefusedXmlException, ParseError, ValueError, LookupError, RecursionError):
        return None
    for provider in root.iter("emailProvider"):
        domains = [_filled(text, domain) for text in _texts(provider, "domain")]
        if domain not in domains:
            continue
        for server in provider.findall(_ELEMENTS[protocol]):
            settings = _settings(server, domain, protocol)
            if settings is not None:
                return settings
    return None


def _settings(server: Element, domain: str, protocol: Protocol) -> ServerSettings | None:
    host = host_name(_filled(_text(server, "hostname"), domain))
    security = _SECURITY.get(_text(server, "socketType").upper())
    number = _text(server, "port")
    port = int(number) if _PORT.fullmatch(number) else 0
    if server.get("type") != protocol or not host or not security or not 0 < port < 65536:
        return None
    user = _text(server, "username")
    user = user if _USER.fullmatch(user) and len(user) <= 254 else ADDRESS
    return ServerSettings(host, port, security, user, _method(server))


def _method(server: Element) -> Method:
    """Return how one logs in: with a token only where no password is taken."""
    methods = {text.lower() for text in _texts(server, "authentication")}
    takes_password = not methods or any(method.startswith("password") for method in methods)
    return "xoauth2" if "oauth2" in methods and not takes_password else "password"


def _texts(element: Element, name: str) -> Iterator[str]:
    return ((child.text or "").strip() for child in element.findall(name))


def _text(element: Element, name: str) -> str:
    return next(_texts(element, name), "")


def _filled(text: str, domain: str) -> str:
    return text.replace(DOMAIN, domain).lower()
