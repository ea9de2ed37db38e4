"""Bytes to Message: whatever can be read of whatever was sent."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import LARGEST, PUBLIC, Message
from tapestry.identity.message_id import made_id, message_ids, own_id
from tapestry.mime.address import Mailbox, addresses, mailboxes, names
from tapestry.mime.automatic import automatic
from tapestry.mime.body import Reading, read_body
from tapestry.mime.charset import decode
from tapestry.mime.event import calendar_part
from tapestry.mime.header_section import headers_of, values_by_name
from tapestry.mime.headers import (
    decoded,
    instant_of,
    list_id,
    newsgroups,
)
from tapestry.mime.patch import place_in_series
from tapestry.mime.problems import NO_END
from tapestry.mime.questions import questions
from tapestry.mime.received import received_at
from tapestry.mime.sections import BOUNDS, sections

UNREADABLE = "not a message that can be read"
"""The problem that is noted if parsing raises an unforeseen error."""

TOO_LARGE = f"larger than {LARGEST // 1024**2} MiB: its beginning is read, and no original is kept"

LARGE = 8 * 1024 * 1024
"""Bytes of a message that are looked at where its parts cannot be told apart."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A message, and the problems of reading it."""

    message: Message
    problems: tuple[str, ...] = ()


def parse(
    raw: bytes,
    source: str | None = None,
    audience: str = PUBLIC,
    internal_date: int | None = None,
    now: int | None = None,
    size: int | None = None,
) -> Parsed:
    r"""Read one message from its bytes; never raises.

    ``internal_date`` is that of an IMAP server; nothing was received after ``now``, by default
    the present.  ``size`` is that of a message of which ``raw`` is the beginning.

    A message without a Message-ID is given one under the domain ``content.invalid``, a hash of its
    content.

    >>> parsed = parse(b"From: joe at x.org (Joe Doe)\nSubject: hi\n\nHello\n")
    >>> parsed.message.sender, parsed.message.sender_name, parsed.message.body
    ('joe@x.org', 'Joe Doe', 'Hello\n')
    """
    now = wall_clock() if now is None else now
    try:
        parsed = _read(raw, source, audience, internal_date, now)
    except Exception as error:
        # The bytes are kept, and the messages after it are read.
        message = Message(
            made_id(raw), body=_bare_text(raw), size=len(raw), source=source, audience=audience
        )
        parsed = Parsed(message, (UNREADABLE, type(error).__name__))
    if size is None:
        return parsed
    return Parsed(replace(parsed.message, size=size), (TOO_LARGE, *parsed.problems))


def _read(
    raw: bytes, source: str | None, audience: str, internal_date: int | None, now: int
) -> Parsed:
    problems: list[str] = []
    kinds: set[str] = set()
    try:
        parts = list(sections(raw))
        reading = read_body(raw, parts)
        body, problems = reading.text, reading.problems
        if BOUNDS.intersection(problems):
            problems = [problem for problem in problems if problem != NO_END]
        headers = values_by_name(parts[0].headers)
        kinds = {part.kind for part in parts}
    except Exception as error:
        # The standard parser raises various errors at headers made to break it: what does not
        # depend on them, and the bare text, remain.
        bare, problems = headers_of(raw)
        problems.insert(0, type(error).__name__)
        headers, body, reading = values_by_name(bare), _bare_text(raw), Reading()
    if not headers:
        problems.append("no headers")
    date = instant_of(_first(headers, "date"))
    if date is None and "date" in headers:
        problems.append("unreadable date")
    if date is not None and _lies(date, headers):
        problems.append("its date is not that of its delivery")
    sender, name = _sender(headers)
    msgid = own_id(_first(headers, "message-id")) or made_id(raw)
    references = message_ids(" ".join(headers.get("references", [])))
    subject = decoded(_first(headers, "subject")) if "subject" in headers else None
    parent = _parent(msgid, _first(headers, "in-reply-to"), references)
    to, cc = _boxes(headers, "to"), _boxes(headers, "cc")
    message = Message(
        msgid=msgid,
        received=received_at(headers, internal_date, now),
        date=date,
        sender=sender,
        sender_name=name,
        to=addresses(to),
        to_names=names(to),
        cc=addresses(cc),
        cc_names=names(cc),
        subject=subject,
        newsgroups=newsgroups(_first(headers, "newsgroups")),
        list=list_id(_first(headers, "list-id")),
        inreplyto=parent,
        references=references,
        body=body,
        size=len(raw),
        attachments=reading.attachments,
        filenames=tuple(reading.filenames),
        media_types=tuple(reading.media_types),
        diff_paths=reading.diff_paths,
        patch=place_in_series(subject),
        questions=questions(subject, body, is_answer=parent is not None),
        automatic=automatic(headers, kinds, sender or ""),
        **calendar_part(reading.calendar)._asdict(),
        source=source,
        audience=audience,
    )
    return Parsed(message, tuple(dict.fromkeys(problems)))


def _first(headers: dict[str, list[str]], name: str) -> str:
    return headers.get(name, [""])[0]


def _boxes(headers: dict[str, list[str]], name: str) -> list[Mailbox]:
    return [box for value in headers.get(name, []) for box in mailboxes(value)]


def _sender(headers: dict[str, list[str]]) -> tuple[str | None, str | None]:
    for value in headers.get("from") or headers.get("sender") or []:
        for box in mailboxes(value):
            return box.address or None, box.name or None
    return None, None


def _parent(msgid: str, replied: str, references: tuple[str, ...]) -> str | None:
    """Return the first Message-ID of In-Reply-To, else the last reference; never its own.

    A sentence ("Message from Joe <joe@x.org> of …") has other things in brackets too: from it,
    take the last that is among the references, else the last.
    """
    named = list(message_ids(replied))
    if len(named) > 1 and replied.lstrip().find("<") > 0:
        known = set(references)
        named.reverse()
        named.sort(key=lambda msgid: msgid not in known)
    return next((parent for parent in (*named, *reversed(references)) if parent != msgid), None)


def _lies(date: int, headers: dict[str, list[str]]) -> bool:
    """Return whether a date is more than a month from when the message was received."""
    for value in headers.get("received", []):
        received = instant_of(value.rpartition(";")[2])
        if received is not None:
            return abs(date - received) > 30 * DAY
    return False


def _bare_text(raw: bytes) -> str:
    _, _, rest = raw[:LARGE].replace(b"\r\n", b"\n").partition(b"\n\n")
    return decode(rest[: 1024 * 1024])
