"""Bounces: reports that a message could not be delivered, or not yet (RFC 3464, RFC 3462).

Postfix, Exchange, Gmail and newer Exims send a delivery status notification (DSN); qmail and older
Exims send text.  A report is not authenticated, and what it quotes of the message is in every copy
of that: count it only by the return path that it came to (tapestry.deliver.mail.return_path).  Time
and memory are linear in the length that is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Literal

from tapestry.servers.quoted_reply import storable

LONGEST = 1024 * 1024
"""Bytes of a report that are read."""

LONGEST_DIAGNOSTIC = 500

_MOST_RECIPIENTS = 1000
_MOST_PARTS = 50
_BLANK_LINES = re.compile(rb"\r?\n(?:[ \t]*\r?\n)+")
_ADDRESS = re.compile(r"[^\s<>;,:\"]{1,200}@[^\s<>;,:\"]{1,255}")
_STATUS = re.compile(r"(?<![\w.])([245]\.\d{1,3}\.\d{1,3})(?![\w.]*\d)")
_REPLY = re.compile(r"\b([45])\d\d[ -]")
_DAEMON = re.compile(r"mailer-daemon|postmaster|mail delivery", re.IGNORECASE)
_SENT_TO = ("To", "Delivered-To", "X-Original-To", "Envelope-To")
_QMAIL = re.compile(r"\s*Hi\. This is the ")
_QMAIL_RECIPIENT = re.compile(r"^<([^<>\n]{1,450})>:[ \t]*\n((?:[^\n]+\n?){0,20})", re.MULTILINE)
_EXIM = re.compile(r"\s*This message was created automatically by mail delivery software")
_EXIM_RECIPIENT = re.compile(r"^ {2}(\S{1,450})\n((?: {4,}[^\n]+\n?){0,20})", re.MULTILINE)
_COPY = re.compile(r"^-{3,} ?(?:Below this line|This is a copy|The header|The body)", re.MULTILINE)
_NOT_YET = re.compile(r"not yet been delivered|will continue|not require any action", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BounceReport:
    """A server's report of a message and one of its recipients.

    ``returned_to`` are the addresses that the report itself was sent to: among them the return
    path of the message.  ``status`` is that of RFC 3463.  A report of several recipients is about
    the first that failed.
    """

    recipient: str
    action: Literal["failed", "delayed"]
    status: str
    diagnostic: str
    returned_to: tuple[str, ...] = ()


def read_bounce(raw: bytes) -> BounceReport | None:
    r"""Return what a message reports, None if it is no bounce (as an automatic reply is none).

    >>> read_bounce(b"Subject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nBack on Monday")

    It raises no error, whatever the bytes are.
    """
    try:
        message = _parsed(raw[:LONGEST])
        parts = list(_parts(message))
        report = _status_notification(message, parts) if parts else _text_report(message)
        values = [value for name in _SENT_TO for value in message.get_all(name, [])]
        sent_to = tuple(_ADDRESS.findall(" ".join(map(str, values[:_MOST_RECIPIENTS]))[:LONGEST]))
    except Exception:  # the library's parsers raise many at malformed headers
        return None
    return report and replace(report, returned_to=sent_to)


def _parsed(raw: bytes) -> Message:
    """Return the headers of a message, with all the rest as one text."""
    return BytesHeaderParser().parsebytes(raw)


def _body(message: Message) -> bytes:
    content = message.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _parts(message: Message) -> Iterator[Message]:
    """Yield the parts of a report, one level deep: what is attached to a part is not looked at."""
    boundary = message.get_boundary()
    if message.get_content_maintype() != "multipart" or not boundary:
        return
    delimiter = re.escape(boundary.encode("ascii", "surrogateescape"))
    line = re.compile(rb"(?:\A|\n)--" + delimiter + rb"(--)?[ \t]*\r?(?=\n|\Z)")
    _preamble, *rest = line.split(_body(message), _MOST_PARTS)
    for is_end, part in zip(rest[::2], rest[1::2], strict=True):
        if is_end:
            return
        yield _parsed(part.removeprefix(b"\n"))


def _status_notification(message: Message, parts: list[Message]) -> BounceReport | None:
    """Return the report of a DSN: the first recipient that failed, or that is waited for."""
    if message.get_content_subtype() != "report" and not _DAEMON.search(_text(message, "From")):
        return None  # somebody sends on a report
    kinds = [part.get_content_type() for part in parts]
    status = next(
        (
            part
            for part, kind in zip(parts, kinds, strict=True)
            if kind in ("message/delivery-status", "message/global-delivery-status")
        ),
        None,
    )
    if status is None:
        return None
    blocks = _BLANK_LINES.split(_body(status).strip())[: _MOST_RECIPIENTS + 1]
    reports = (_recipient_report(_parsed(block + b"\n\n")) for block in blocks)
    return _first(report for report in reports if report is not None)


def _recipient_report(fields: Message) -> BounceReport | None:
    """Return the report of one recipient (RFC 3464, section 2.3), None if it is none."""
    names = ("Original-Recipient", "Final-Recipient")
    recipient = next(filter(None, (_address(_text(fields, name)) for name in names)), "")
    action = _text(fields, "Action").lower()
    diagnostic = _text(fields, "Diagnostic-Code")
    status = _status(_text(fields, "Status"))
    if not action.startswith(("failed", "delayed")):
        if action or status[:1] not in ("4", "5"):
            return None
        action = "failed" if status.startswith("5") else "delayed"
    return _report(recipient, action, status, diagnostic)


def _text_report(message: Message) -> BounceReport | None:
    """Return the report of a server that writes text: qmail (QSBMF), or an older Exim."""
    if not _DAEMON.search(_text(message, "From")):
        return None
    text = storable(_body(message).decode("utf-8", "replace")).replace("\r\n", "\n")
    pattern = (
        _QMAIL_RECIPIENT if _QMAIL.match(text) else _EXIM_RECIPIENT if _EXIM.match(text) else None
    )
    if pattern is None:
        return None
    copy = _COPY.search(text)
    said = text[: copy.start()] if copy else text
    action = "delayed" if _NOT_YET.search(said) else "failed"
    reports = (
        _report(_address(found[1]), action, "", found[2]) for found in pattern.finditer(said)
    )
    return _first(report for report in reports if report is not None)


def _report(recipient: str, action: str, status: str, diagnostic: str) -> BounceReport | None:
    if not recipient:
        return None
    failed = action.startswith("failed")
    diagnostic = " ".join(diagnostic.split())
    status = status or ("5.0.0" if failed else "4.0.0")
    said = _status(diagnostic)
    if status.endswith(".0.0") and said[:1] == status[:1]:
        status = said  # it says more
    return BounceReport(
        recipient,
        "failed" if failed else "delayed",
        status,
        re.sub(r"\A(?:smtp|x-\w+) *; *", "", diagnostic, flags=re.IGNORECASE)[:LONGEST_DIAGNOSTIC],
    )


def _first(reports: Iterable[BounceReport]) -> BounceReport | None:
    """Return the first report of a failure, or else the first."""
    return min(reports, key=lambda report: report.action != "failed", default=None)


def _text(message: Message, name: str) -> str:
    """Return a header as one line, empty if there is none."""
    value = message.get(name)
    return " ".join(storable(str(value or "")).split())


def _address(value: str) -> str:
    """Return the address in a value such as ``rfc822; joe@x.org``, empty if there is none."""
    found = _ADDRESS.search(value[:1000])
    return found[0] if found else ""


def _status(text: str) -> str:
    """Return a status of RFC 3463 in a text; of an SMTP reply code alone its class.

    >>> _status("smtp; 550 5.1.1 no such user"), _status("451 try again"), _status("5.6.7.8")
    ('5.1.1', '4.0.0', '')
    """
    text = text[:2000]
    status, reply = _STATUS.search(text), _REPLY.search(text)
    return status[1] if status else f"{reply[1]}.0.0" if reply else ""
