"""Mail that this site sends, by Django's mail API: EMAIL_URL says how."""

from __future__ import annotations

import re
import smtplib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from filters.delivery.contents import links
from filters.delivery.models import Address, Destination
from filters.site.work.crypto.delivery_signer import delivery_signer, return_paths
from tapestry.core.clock import wall_clock
from tapestry.core.delivery_header import DELIVERY_HEADER
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.mail.envelope import Envelope
from tapestry.deliver.one_line import one_line

SITE_NAME = "Tapestry"

_LOGIN = (530, 534, 535, 538)
_SENDERS_STATUS = re.compile(r"5\.(7\.\d+|1\.[78])\b")

_kept = threading.local()
"""The connection of this thread, while one is kept open."""


class RecipientRefusedError(TapestryError):
    """The server takes no mail for an address; what was to be sent waits until that is mended."""


class _Written:
    """A message whose bytes are written already, as Django's mail backends take one."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def as_bytes(self, **_: Any) -> bytes:
        return self._raw

    def get_charset(self) -> None:
        return None


class RawMail(EmailMessage):
    """Mail of bytes that are sent as they are."""

    def __init__(self, raw: bytes, sender: str, **recipients: Any) -> None:
        super().__init__(from_email=sender, **recipients)
        self.raw = raw

    def message(self, *_: Any, **__: Any) -> Any:
        return _Written(self.raw)


class WrittenMail(RawMail):
    """Mail of bytes that are sent as they are, to one address of a person."""

    def __init__(self, raw: bytes, destination: Destination, address: Address, key: str) -> None:
        super().__init__(raw, return_path(address, key), to=[address.email])
        self.owner, self.key = destination.owner, key


def envelope(destination: Destination, address: Address, batch: Batch) -> Envelope:
    """Return what mail of a batch is addressed with: its Message-ID is that of the batch."""
    owner, host, signer = destination.owner, site_host(), delivery_signer()
    return Envelope(
        to_address=address.email,
        to_name=owner.get_full_name() or owner.get_username(),
        from_address=settings.DEFAULT_FROM_EMAIL,
        site_name=SITE_NAME,
        site_url=f"{settings.SITE_URL}/",
        list_id=f"{destination.uid.hex}.{host}",
        unsubscribe_url=links.unsubscribe_url(destination),
        settings_url=links.absolute(destination.get_absolute_url()),
        zone=owner.zone,
        message_id=signer.message_id(batch.key, host),
        now=wall_clock(),
        signer=signer,
    )


def signed_mail(email: str, subject: str, text: str, key: str, sender: str = "") -> EmailMessage:
    """Return mail that this site writes of itself, to one address; ``sender`` is the envelope's."""
    signer = delivery_signer()
    headers = {
        "From": settings.DEFAULT_FROM_EMAIL,
        "Message-ID": f"<{signer.message_id(key, site_host())}>",
        "Auto-Submitted": "auto-generated",  # RFC 3834, section 5
        "X-Auto-Response-Suppress": "All",
        DELIVERY_HEADER: signer.value(key),
    }
    return EmailMessage(subject, text, sender, [email], headers=headers)


def return_path(address: Address, key: str) -> str:
    """Return the envelope sender of a delivery to an address: bounces of it come there."""
    return return_paths().of(address.pk, address.email, key, wall_clock())


def site_host() -> str:
    """Return the host of TAPESTRY_URL: the right side of Message-IDs."""
    return urlsplit(settings.SITE_URL).hostname or "localhost"


@contextmanager
def kept_connection() -> Iterator[None]:
    """Send what this thread sends in the block over one connection, opened when it is needed."""
    _kept.connection = get_connection()
    try:
        yield
    finally:
        connection, _kept.connection = _kept.connection, None
        connection.close()


def send(message: EmailMessage, recipient: str) -> Outcome:
    """Send a message to its one recipient, and return what the server said.

    "refused" is about its content; whatever may pass is "retry".  Raise RecipientRefusedError if
    the server refuses the recipient for good.
    """
    message.connection = getattr(_kept, "connection", None) or get_connection()
    try:
        message.connection.open()
        message.send()
    except smtplib.SMTPRecipientsRefused as error:
        code, words = error.recipients.get(recipient, next(iter(error.recipients.values())))
        _reset_if_closing(message.connection, code)
        outcome = _outcome(code, words)
        if outcome.state == "refused" and not is_about_sender(code, words):
            raise RecipientRefusedError(outcome.answer) from error
        return replace(outcome, state="retry")
    except smtplib.SMTPDataError as error:
        _reset_if_closing(message.connection, error.smtp_code)
        return _outcome(error.smtp_code, error.smtp_error)
    except smtplib.SMTPResponseException as error:  # it is about this site, and not the message
        give_up(message.connection)
        reply = _outcome(error.smtp_code, error.smtp_error).answer
        return Outcome("retry", f"The mail server does not serve this site. {reply}")
    except (smtplib.SMTPException, OSError) as error:
        give_up(message.connection)
        return Outcome("retry", f"The mail server broke off or did not answer ({name_of(error)}).")
    except BaseException:  # half-way in a transaction of SMTP, which is not the next message's
        give_up(message.connection)
        raise
    return Outcome("delivered", "The mail server took it.")


def is_about_sender(code: int, words: bytes | str) -> bool:
    """Tell whether the answer to a recipient is about who sends: a server may say so only there.

    It asks for a login (RFC 4954), or gives a status of RFC 3463 about the sender or its rights.

    >>> is_about_sender(554, b"5.7.1 <mail.x.org>: Relay access denied")
    True
    >>> is_about_sender(550, b"5.1.1 no such user")
    False
    """
    return code in _LOGIN or _SENDERS_STATUS.match(_text(words)) is not None


def _outcome(code: int, words: bytes | str) -> Outcome:
    said = f"The mail server said {code} {one_line(_text(words), 300)}"
    return Outcome("refused" if 500 <= code < 600 else "retry", said)


def _text(words: bytes | str) -> str:
    return words.decode("utf-8", "replace") if isinstance(words, bytes) else words


def _reset_if_closing(connection: Any, code: int) -> None:
    """Give up the connection of a server that is closing (RFC 5321, section 3.8)."""
    if code == 421:
        give_up(connection)


def give_up(connection: Any) -> None:
    """Have the next message use a connection of its own: this one has been lost."""
    try:
        connection.close()
    except (smtplib.SMTPException, OSError):
        connection.connection = None


def name_of(error: Exception) -> str:
    """Return the words of the system for an error of a connection, or else its class."""
    return getattr(error, "strerror", None) or type(error).__name__
