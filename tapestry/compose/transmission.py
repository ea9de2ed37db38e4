"""Hand a letter to a mail server (SMTP) or a news server (NNTP), and read what it says of it.

SMTP is at least once: a connection that breaks after the last byte leaves open whether the server
took the letter.  It is sent again then, with the same bytes: its Message-ID tells the receivers.
News is exactly once: a server refuses a Message-ID that it has.
"""

from __future__ import annotations

import re
import smtplib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tapestry.deliver.one_line import one_line
from tapestry.servers.account import Account
from tapestry.servers.nntp import NNTPError, code_of
from tapestry.servers.nntp import connected as connected_to_news
from tapestry.servers.quoted_reply import quoted_reply

_LATER = re.compile(r"\b43[16]\b|\b400\b|later|busy|temporar", re.IGNORECASE)
_DUPLICATE = re.compile(r"\b435\b|\bduplicate\b|already (?:exists|have)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Transmission:
    """What a server says: whom it accepted, and why it did not accept others.

    ``refused`` is for good, ``deferred`` may pass; both by address.  ``error`` is about the letter
    as a whole, for good if ``is_final``; then nobody was accepted.
    """

    accepted: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    deferred: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    is_final: bool = False


def transmit(
    client: smtplib.SMTP, sender: str, recipients: Sequence[str], raw: bytes
) -> Transmission:
    """Send a letter to recipients in one transaction of SMTP."""
    try:
        answers = client.sendmail(sender, list(recipients), raw)
    except smtplib.SMTPRecipientsRefused as error:
        return _by_recipient((), error.recipients)
    except smtplib.SMTPResponseException as error:  # of the sender, or the data
        words = _words(error.smtp_code, error.smtp_error)
        return Transmission(error=words, is_final=error.smtp_code >= 500)
    except smtplib.SMTPNotSupportedError as error:
        return Transmission(error=f"The mail server cannot take it: {error}.", is_final=True)
    except (smtplib.SMTPException, OSError) as error:
        name = getattr(error, "strerror", None) or type(error).__name__
        return Transmission(error=f"The mail server broke off or did not answer ({name}).")
    return _by_recipient([address for address in recipients if address not in answers], answers)


def _by_recipient(
    accepted: Sequence[str], answers: Mapping[str, tuple[int, bytes]]
) -> Transmission:
    words = {address: _words(code, text) for address, (code, text) in answers.items()}
    final = {address for address, (code, _) in answers.items() if code >= 500}
    return Transmission(
        tuple(accepted),
        refused={address: text for address, text in words.items() if address in final},
        deferred={address: text for address, text in words.items() if address not in final},
    )


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
            is_final = code_of(error) in (440, 441, 480, 502) and not _LATER.search(reply)
            return Transmission(error=words, is_final=is_final)
        except (OSError, EOFError) as error:
            name = getattr(error, "strerror", None) or type(error).__name__
            return Transmission(error=f"{account.host} broke off or did not answer ({name}).")
    return Transmission(accepted=("news",))
