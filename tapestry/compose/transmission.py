"""Hand a letter to a mail server (SMTP) or a news server (NNTP), and read what it says of it.

SMTP is at least once: a connection that breaks after the last byte leaves open whether the server
took the letter.  It is sent again then, with the same bytes: its Message-ID tells the receivers.
News is exactly once: a server refuses a Message-ID that it has.
"""

from __future__ import annotations

import re
import smtplib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tapestry.deliver.one_line import one_line
from tapestry.servers.account import Account
from tapestry.servers.nntp import NNTPError, code_of
from tapestry.servers.nntp import connected as connected_to_news
from tapestry.servers.quoted_reply import quoted_reply

_LATER = re.compile(r"\b43[16]\b|\b400\b|later|busy|temporar", re.IGNORECASE)
_ACCEPTED = (250, 251)
_CLOSING = 421
"""Codes of replies (RFC 5321, section 4.2.3): to RCPT, and of a server that is closing."""

_DUPLICATE = re.compile(r"\b435\b|\bduplicate\b|already (?:exists|have)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Transmission:
    """The answers of a server: whom it accepted, and why it did not accept others.

    ``refused`` is for good, ``deferred`` may pass; both by address.  ``error`` is about the letter
    as a whole, for good if ``is_final``; then nobody was accepted.  ``may_be_taken`` if the server
    has got the letter and did not answer: it may be on its way to those who are deferred.
    """

    accepted: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    deferred: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    is_final: bool = False
    may_be_taken: bool = False


def transmit(
    client: smtplib.SMTP, sender: str, recipients: Sequence[str], raw: bytes
) -> Transmission:
    """Send a letter to recipients in one transaction of SMTP (RFC 5321, section 3.3).

    If the server ends it by 421, or the connection breaks, nobody is accepted, whatever was said
    of them before.  ``SMTP.sendmail`` does not do: it leaves out those who were accepted till then.
    """
    replies: dict[str, tuple[int, bytes]] = {}
    is_given = False
    try:
        _begin(client, sender, len(raw))
        for address in recipients:
            replies[address] = client.rcpt(address)
            if replies[address][0] == _CLOSING:
                raise smtplib.SMTPResponseException(*replies[address])
        if any(code in _ACCEPTED for code, _ in replies.values()):
            is_given = True
            _give(client, raw)
    except smtplib.SMTPResponseException as error:  # about the sender, the data, or the connection
        if error.smtp_code == _CLOSING:
            client.close()
        words = _words(error.smtp_code, error.smtp_error)
        is_answered = isinstance(error, smtplib.SMTPDataError) and error.smtp_code >= 400
        may_be_taken = is_given and not is_answered
        if error.smtp_code >= 500 and not may_be_taken:
            return Transmission(error=words, is_final=True)
        return replace(_by_recipient(recipients, replies, words), may_be_taken=may_be_taken)
    except (smtplib.SMTPException, OSError) as error:
        name = getattr(error, "strerror", None) or type(error).__name__
        words = f"The mail server broke off or did not answer ({name})."
        return replace(_by_recipient(recipients, replies, words), may_be_taken=is_given)
    return _by_recipient(recipients, replies)


def _begin(client: smtplib.SMTP, sender: str, size: int) -> None:
    client.ehlo_or_helo_if_needed()
    code, words = client.mail(sender, [f"size={size}"] if client.has_extn("size") else [])
    if code != 250:
        raise smtplib.SMTPSenderRefused(code, words, sender)


def _give(client: smtplib.SMTP, raw: bytes) -> None:
    code, words = client.data(raw)
    if code != 250:
        raise smtplib.SMTPDataError(code, words)


def _by_recipient(
    recipients: Sequence[str], replies: Mapping[str, tuple[int, bytes]], failure: str = ""
) -> Transmission:
    """Return what became of each recipient; after a failure of the transaction none is accepted."""
    words = {
        address: _words(code, text)
        for address, (code, text) in replies.items()
        if code not in _ACCEPTED
    }
    refused = {address: text for address, text in words.items() if replies[address][0] >= 500}
    deferred = {
        address: words.get(address, failure)
        for address in recipients
        if address not in refused and (failure or address in words)
    }
    left = refused.keys() | deferred.keys()
    accepted = tuple(address for address in recipients if address not in left)
    return Transmission(accepted, refused, deferred)


def _words(code: int, words: bytes | str) -> str:
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return f"The mail server said: {code} {one_line(text, 300)}"


def post(
    account: Account, raw: bytes, timeout: float, seconds: float | None = None
) -> Transmission:
    """Post a letter to the newsgroups that it names (RFC 3977, section 6.3.1).

    Raises ConnectionLostError or RefusedError, in words, where there is no session.
    """
    with connected_to_news(account, timeout, seconds) as client:
        try:
            client.post(raw)
        except NNTPError as error:
            reply = quoted_reply(error, account.secret)
            if _DUPLICATE.search(reply):
                return Transmission(accepted=("news",))
            words = f"{account.host} said: {reply}."
            code = code_of(error)
            is_final = code in (440, 441, 480, 502) and not _LATER.search(reply)
            return Transmission(error=words, is_final=is_final, may_be_taken=not 400 <= code < 600)
        except (OSError, EOFError) as error:
            name = getattr(error, "strerror", None) or type(error).__name__
            words = f"{account.host} broke off or did not answer ({name})."
            return Transmission(error=words, may_be_taken=True)
    return Transmission(accepted=("news",))
