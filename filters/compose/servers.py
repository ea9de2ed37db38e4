"""By which server a person's mail is sent: their own, else that of the site (EMAIL_URL)."""

from __future__ import annotations

import smtplib
from collections.abc import Sequence
from typing import Any, Literal

from django.conf import settings
from django.core.mail import get_connection

from filters.compose.models import SmtpAccount
from filters.delivery.mail.addresses import is_confirmed
from filters.delivery.mail.outgoing import RawMail, give_up, name_of
from filters.delivery.models import Address
from filters.people.models import User
from filters.site.settings.email_url import is_kept_only
from filters.site.work.crypto.encryption import decrypt
from filters.site.work.parts import services
from filters.sources.accounts.credentials import account_of as account_of_source
from filters.sources.models import Source
from tapestry.compose.transmission import Transmission, post, transmit
from tapestry.core.errors import TapestryError
from tapestry.core.surroundings import is_unforeseen
from tapestry.deliver.mail.headers import ascii_address
from tapestry.servers.account import Account, ConnectionLostError
from tapestry.servers.discovery.providers import imap_hosts_of
from tapestry.servers.smtp import connected

PATIENCE = 30.0
"""Seconds that a server has for each response."""

LIMIT = 300.0
"""Seconds of a connection, from the socket to its end."""

Kind = Literal["own", "site", ""]


def kind_of(owner: User) -> Kind:
    """Return whose server sends a person's mail; empty if there is none."""
    if SmtpAccount.objects.filter(owner=owner).exists():
        return "own"
    return "" if is_kept_only() else "site"


def account_of(stored: SmtpAccount, secret: str | None = None) -> Account:
    """Return the account of a person's server, with a source's token where it has no password.

    Raises TapestryError if the password cannot be decrypted, or the token not renewed.
    """
    security: Any = stored.security
    known = decrypt(stored.secret, services.data()) if secret is None else secret
    place = ("smtp", stored.host, stored.port, security)
    allowed = tuple(settings.PRIVATE_HOSTS)
    source = None if known else token_source(stored)
    if source is None:
        return Account(*place, stored.user, known, allowed=allowed)
    return Account(*place, stored.user, account_of_source(source).secret, "xoauth2", allowed)


def token_source(stored: SmtpAccount) -> Source | None:
    """Return the person's source whose token logs in to a server, which is of the same provider."""
    own = Source.objects.filter(
        owner=stored.owner,
        method=Source.Method.XOAUTH2,
        host__in=imap_hosts_of(stored.host),
        user=stored.user,
    )
    return own.order_by("pk").first()


def send_mail(owner: User, sender: str, recipients: Sequence[str], raw: bytes) -> Transmission:
    """Hand a letter to the server that sends a person's mail, and return what it says."""
    own = SmtpAccount.objects.filter(owner=owner).first()
    if own is None and is_kept_only():
        words = "There is no mail server: name your own under Sending."
        return Transmission(error=words, is_final=True)
    if own is None and not _is_proven(owner, sender):
        # The person's own server may have been removed since: it need not ask for proof.
        words = f"This site sends from {sender} once you have confirmed that it is yours."
        return Transmission(error=words, is_final=True)
    if own is None:
        return _by_site(sender, recipients, raw)
    try:
        with connected(account_of(own), PATIENCE, LIMIT) as client:
            return transmit(client, sender, recipients, raw)
    except TapestryError as error:
        return _failed(error)


def _is_proven(owner: User, sender: str) -> bool:
    """Tell whether the site may send from an address, given as it stands in an envelope."""
    rows = Address.objects.filter(owner=owner, proven=True)
    return any(ascii_address(row.email) == sender for row in rows if is_confirmed(row))


def post_news(source: Source | None, raw: bytes) -> Transmission:
    """Post a letter by a news server, and return what it says."""
    if source is None:
        return Transmission(error="The news server is no longer among your sources.", is_final=True)
    try:
        return post(account_of_source(source), raw, PATIENCE, LIMIT)
    except TapestryError as error:
        return _failed(error)


def _failed(error: TapestryError) -> Transmission:
    if is_unforeseen(error):
        raise error
    words = error.sentences
    return Transmission(error=words, is_final=not isinstance(error, ConnectionLostError))


def _by_site(sender: str, recipients: Sequence[str], raw: bytes) -> Transmission:
    connection: Any = get_connection()
    try:
        connection.open()
        client = getattr(connection, "connection", None)
        if isinstance(client, smtplib.SMTP):
            return transmit(client, sender, recipients, raw)
        # Not by SMTP: to a file or to the console, say.
        connection.send_messages([RawMail(raw, sender, bcc=list(recipients))])
        return Transmission(accepted=tuple(recipients))
    except smtplib.SMTPResponseException as error:
        words = f"The mail server refused this site ({error.smtp_code})."
        return Transmission(error=words)
    except (smtplib.SMTPException, OSError) as error:
        return Transmission(error=f"The mail server cannot be reached ({name_of(error)}).")
    finally:
        give_up(connection)
