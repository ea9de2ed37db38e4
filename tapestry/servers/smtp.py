"""Authenticated connections to mail servers that people name, for submission (RFC 6409).

connect ─ TLS or STARTTLS ─ AUTH ─> smtplib.SMTP

The connection is made to an address that was checked, as those to sources are.
"""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from tapestry.core.errors import TapestryError
from tapestry.servers.account import (
    TIMEOUT,
    Account,
    ConnectionLostError,
    RefusedError,
    protocol_explained,
)
from tapestry.servers.opening import opened
from tapestry.servers.seven_bits import in_seven_bits

if TYPE_CHECKING:
    from _typeshed import SizedBuffer

PORTS = {"tls": 465, "starttls": 587, "none": 25}
"""The usual ports, by connection security (RFC 8314)."""


class EightBitError(TapestryError):
    """A message has 8-bit characters, and the server takes none (it does not offer 8BITMIME)."""


class EightBitClient(smtplib.SMTP):
    """SMTP that announces 8-bit characters, or writes them in 7 bits (RFC 6152)."""

    def sendmail(
        self,
        from_addr: str,
        to_addrs: str | Sequence[str],
        msg: SizedBuffer | str,
        mail_options: Sequence[str] = (),
        rcpt_options: Sequence[str] = (),
    ) -> dict[str, tuple[int, bytes]]:
        """Send a message; raise EightBitError if it cannot be written as the server takes it."""
        if not isinstance(msg, str) and not (raw := bytes(msg)).isascii():
            self.ehlo_or_helo_if_needed()
            if self.has_extn("8bitmime"):
                mail_options = [*mail_options, "BODY=8BITMIME"]
            else:
                msg = _seven_bits(raw)
        return super().sendmail(from_addr, to_addrs, msg, mail_options, rcpt_options)


class EightBitClientOverTls(EightBitClient, smtplib.SMTP_SSL):
    """The same, with TLS from the start."""


def _seven_bits(raw: bytes) -> bytes:
    written = in_seven_bits(raw)
    if written is None:
        raise EightBitError(
            "The mail server takes no 8-bit characters, and this message has some.",
            hint="Use a mail server that offers 8BITMIME.",
        )
    return written


class _Client(smtplib.SMTP):
    """SMTP over a socket that is connected already, with TLS where that is from the start."""

    def __init__(self, account: Account, over: socket.socket, timeout: float) -> None:
        self._over = over
        super().__init__(timeout=timeout, local_hostname="[127.0.0.1]")
        # STARTTLS verifies the certificate against it.
        vars(self)["_host"] = account.host
        with ExitStack() as failing:
            failing.callback(self.leave)
            self._greet(account)
            failing.pop_all()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._over

    def _greet(self, account: Account) -> None:
        code, _ = self.connect(account.host, account.port)
        if code != 220:
            raise ConnectionRefusedError(f"it answers {code}")
        self.ehlo_or_helo_if_needed()

    def offers_tls(self) -> bool:
        return self.has_extn("starttls")

    def begin_tls(self, context: ssl.SSLContext) -> None:
        self.starttls(context=context)
        self.ehlo_or_helo_if_needed()

    def set_timeout(self, seconds: float) -> None:
        if self.sock is not None:
            self.sock.settimeout(seconds)

    def authenticate(self, account: Account) -> None:
        """Log in, if there is a user, by name and password or XOAUTH2."""
        if not account.user:
            return
        is_token = account.method == "xoauth2"
        try:
            if is_token:
                self._log_in_with_token(account)
            else:
                self.login(account.user, account.secret)
        except smtplib.SMTPNotSupportedError:
            raise RefusedError(
                f"{account.host} takes no user name and password over this connection.",
                hint="Check the port and the connection security, or leave the user name empty.",
            ) from None
        except smtplib.SMTPResponseException as error:
            if error.smtp_code < 500:
                raise ConnectionLostError(
                    f"{account.host} cannot let anybody in just now.",
                    hint="It is tried again later.",
                ) from None
            credential = "token" if is_token else "user name or password"
            raise RefusedError(
                f"{account.host} refused the {credential} of {account.user}.",
                hint="Check both. Many providers require an app password, for this program alone.",
            ) from None

    def _log_in_with_token(self, account: Account) -> None:
        if "XOAUTH2" not in self.esmtp_features.get("auth", "").upper().split():
            raise smtplib.SMTPNotSupportedError
        response = f"user={account.user}\1auth=Bearer {account.secret}\1\1"
        # A server that refuses says why in a challenge, and waits for an empty answer.
        self.auth("XOAUTH2", lambda challenge=None: response if challenge is None else "")

    def leave(self) -> None:
        with suppress(OSError, smtplib.SMTPException, ValueError):
            self.set_timeout(2)
            self.quit()
        self.close()


def connected(
    account: Account, timeout: float = TIMEOUT, seconds: float | None = None
) -> AbstractContextManager[smtplib.SMTP]:
    """Connect, and authenticate if there is a user; the connection is closed at the end.

    ``timeout`` is seconds an answer, ``seconds`` limits all of it.  Raises ConnectionLostError or
    RefusedError, in words; UnreachableError if there is no TLS.  Errors of SMTP in the block pass.
    """
    return opened(_Client, _explained, account, timeout, seconds)


@contextmanager
def _explained(account: Account) -> Iterator[None]:
    """Raise errors of the connection and the protocol as TapestryError."""
    with protocol_explained(account, smtplib.SMTPException, "a mail server"):
        try:
            yield
        except smtplib.SMTPServerDisconnected as error:
            raise ConnectionResetError(f"the line was cut ({error})") from None
