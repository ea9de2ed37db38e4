"""Where mail programs connect (TAPESTRY_IMAP), and the certificate that they are shown."""

from __future__ import annotations

import logging
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from tapestry.core.errors import TapestryError

log = logging.getLogger(__name__)

PLACE, CERTIFICATE, KEY = "TAPESTRY_IMAP", "TAPESTRY_IMAP_CERTIFICATE", "TAPESTRY_IMAP_KEY"

_PLACE = re.compile(r"\[?(?P<host>[^]]*?)]?:(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class ImapPlace:
    """An address and a port, and the files of the certificate, empty without TLS.

    The key is in the file of the certificate where it has none of its own.
    """

    host: str
    port: int
    certificate: str
    key: str

    def context(self) -> ssl.SSLContext | None:
        """Return how TLS is spoken; TapestryError if the certificate cannot be used."""
        if not self.certificate:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.certificate, self.key or None)
        except (OSError, ssl.SSLError) as error:
            raise TapestryError(
                f"The certificate {self.certificate} cannot be used ({error}).",
                hint=f"Name files in PEM with {CERTIFICATE} and {KEY}.",
            ) from error
        return context

    def renew(self, context: ssl.SSLContext | None) -> None:
        """Have new connections shown the certificate as it is by now, if that can be used."""
        if context is not None:
            try:
                context.load_cert_chain(self.certificate, self.key or None)
            except (OSError, ssl.SSLError) as error:
                log.warning("The certificate of before is used: %s", error)


def read_imap(environ: Mapping[str, str]) -> ImapPlace | None:
    """Return where mail programs connect; None if nowhere.  Raise TapestryError if it says none.

    Passwords need TLS; without a certificate the place is on this machine, for a proxy that has it.

    >>> read_imap({})
    >>> read_imap({"TAPESTRY_IMAP": "127.0.0.1:1143"})
    ImapPlace(host='127.0.0.1', port=1143, certificate='', key='')
    """
    text = environ.get(PLACE, "").strip()
    if not text:
        return None
    place = _PLACE.fullmatch(text)
    try:
        address = ip_address(place["host"] if place else "")
    except ValueError as error:
        raise TapestryError(
            f"{PLACE} is “{text[:100]}”, which is no address with a port.",
            hint="Write 0.0.0.0:993, or [::]:993 for all addresses.",
        ) from error
    certificate = environ.get(CERTIFICATE, "").strip()
    if not certificate and not address.is_loopback:
        raise TapestryError(
            f"{PLACE} is reached from elsewhere, and there is no certificate.",
            hint=f"Name its file in PEM with {CERTIFICATE}.",
        )
    assert place is not None
    return ImapPlace(str(address), int(place["port"]), certificate, environ.get(KEY, "").strip())
