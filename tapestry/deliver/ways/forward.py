"""Forward of a message as it came: sent again, or attached to a short note.

Both keep the bytes of the original; they only write before and after them.  Lines that are added
end as those of the original do; SMTP and IMAP take the result of ``mime_parts.crlf``.
"""

from __future__ import annotations

import base64
import hashlib
import re

from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import DeliveredMatch
from tapestry.deliver.mail.envelope import DELIVERY_HEADER, Envelope
from tapestry.deliver.mail.headers import (
    Headers,
    angle,
    date_value,
    delivery_headers,
    mailbox_value,
    to_bytes,
    token,
)
from tapestry.deliver.mail.mime_parts import is_binary, quoted_printable, text_headers
from tapestry.deliver.mail.wrap import wrap
from tapestry.deliver.one_line import one_line, web_address
from tapestry.deliver.wording import subject_of

_HEADER = re.compile(rb"[!-9;-~]+[ \t]*:")


def can_be_resent(original: bytes) -> bool:
    r"""Return whether SMTP takes a message with more headers before it.

    It has to begin with a header, and may have no NUL and no line of more than 998 bytes.

    >>> can_be_resent(b"Subject: lunch\n\nNoon?\n"), can_be_resent(b"From joe Mon Nov 23\nX: y\n\n")
    (True, False)
    """
    return _HEADER.match(original) is not None and not is_binary(original)


def resent(original: bytes, envelope: Envelope, key: str) -> bytes:
    """Return a message to be sent again: Resent- headers before its bytes (RFC 5322, 3.6.6).

    Its sender, subject and Message-ID stay its own.  A DKIM signature stays valid unless its
    signer named headers that are added here.  ``Auto-Submitted`` is not added: the author wrote
    the message, not a program (RFC 3834, section 5).

    Raise TapestryError if it cannot be (can_be_resent).
    """
    if not can_be_resent(original):
        raise TapestryError(
            "This message cannot be sent again as it is: SMTP does not take it.",
            hint="Forward it as an attachment.",
        )
    headers = [
        ("Resent-From", mailbox_value("Resent-From", envelope.site_name, envelope.from_address)),
        ("Resent-To", mailbox_value("Resent-To", envelope.to_name, envelope.to_address)),
        ("Resent-Date", date_value(envelope)),
        ("Resent-Message-ID", angle(envelope.message_id)),
        (DELIVERY_HEADER, envelope.signer.value(token(key))),
        ("X-Auto-Response-Suppress", "All"),
    ]
    return to_bytes(headers, _line_end(original)) + original


def attached(
    original: bytes, match: DeliveredMatch, envelope: Envelope, key: str, *, is_file: bool = False
) -> bytes:
    """Return a note that says which filter matched and why, with the message attached.

    It is attached as message/rfc822.  With lines too long for SMTP or NUL bytes it is a file in
    base64, because message/rfc822 may not be encoded (RFC 2046, 5.2.1); so it is with ``is_file``,
    for a server that does not offer 8BITMIME.  A reply goes to its sender.
    """
    end = _line_end(original)
    boundary = _boundary(original, key)
    headers = delivery_headers(envelope, key, subject_of([match], [], envelope.site_name))
    headers += _reply_to(match)
    headers.append(("Content-Type", f'multipart/mixed; boundary="{boundary}"'))
    kind, content = _attachment(original, end, is_file=is_file)
    if not content.isascii():
        headers.append(("Content-Transfer-Encoding", "8bit"))
    note = quoted_printable(_note(match, envelope)).encode("ascii").replace(b"\n", end)
    opening = b"--" + boundary.encode("ascii")
    return b"".join(
        (
            *(to_bytes(headers, end), end, opening, end),
            *(to_bytes(text_headers("plain"), end), end, note, end, opening, end),
            *(to_bytes(kind, end), end, content, end, opening, b"--", end),
        )
    )


def _attachment(original: bytes, end: bytes, *, is_file: bool) -> tuple[Headers, bytes]:
    disposition = ("Content-Disposition", 'attachment; filename="message.eml"')
    if is_file or is_binary(original):
        encoded = base64.encodebytes(original).replace(b"\n", end)
        kind = ("Content-Type", "application/octet-stream")
        return [kind, ("Content-Transfer-Encoding", "base64"), disposition], encoded
    bits = "7bit" if original.isascii() else "8bit"
    kind = ("Content-Type", "message/rfc822")
    return [kind, ("Content-Transfer-Encoding", bits), disposition], original


def _note(match: DeliveredMatch, envelope: Envelope) -> str:
    name, text = one_line(match.filter_label, 80), one_line(match.filter_text, 300)
    told = f"found the attached message: {text}" if text else "found the attached message."
    lines = [wrap(f"Your filter {name} {told}")]
    if match.explanation:
        lines.append(wrap(f"Why: {one_line(match.explanation, 300)}"))
    links = ((one_line(link.words, 40), web_address(link.url)) for link in match.links)
    lines += ["", web_address(match.url), *(f"{words}: {url}" for words, url in links if url)]
    lines += ["", "-- ", f"Change what comes, and when: {web_address(envelope.settings_url)}"]
    lines.append(f"Stop these emails: {web_address(envelope.unsubscribe_url)}")
    return "\n".join([*lines, ""])


def _reply_to(match: DeliveredMatch) -> Headers:
    try:
        return [("Reply-To", mailbox_value("Reply-To", match.sender_name, match.sender))]
    except TapestryError:
        return []  # Strangers write senders that are no addresses.


def _boundary(original: bytes, key: str) -> str:
    """Return a boundary, the same whenever it is asked for.

    It is a hash of the original, so nobody can write an original that contains it.
    """
    salt = hashlib.blake2b(key.encode("utf-8"), digest_size=16).digest()
    return "=_" + hashlib.blake2b(original, key=salt, digest_size=16).hexdigest()


def _line_end(original: bytes) -> bytes:
    first = original.find(b"\n")
    return b"\n" if first >= 0 and original[first - 1 : first] != b"\r" else b"\r\n"
