"""Bodies of calls and answers, as the OpenAPI document describes them.

Instants are RFC 3339 in UTC.  Messages are named by ``id``, their Message-ID without brackets, and
a copy of one by ``audience`` too.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Field, Schema

from filters.authoring.models import Filter
from filters.reading.reading import Reading
from tapestry.core.clock import to_datetime


def moment(instant: int | None) -> datetime | None:
    """Return an instant as answers have it; None stays so."""
    return None if instant is None else to_datetime(instant)


class TextIn(Schema):
    """A text of a filter, in words or in TQL."""

    text: str = Field(min_length=1, max_length=65536)


class PreviewIn(TextIn):
    """``live``: what it matches now, and not what it would have matched so far."""

    live: bool = False


class UnderstoodOut(Schema):
    """How a text is understood: as a phrase, if there is one for it, and in TQL."""

    phrase: str
    tql: str


class FilterIn(TextIn):
    """A new filter; without a name it is called by its phrase."""

    name: str = Field("", max_length=60)
    title: str = Field("", max_length=200)
    mode: Literal["keep", "live"] = "keep"
    existing: bool = True
    timeliness: str = Field("", max_length=60)


class FilterChange(Schema):
    """What becomes of a filter; what is left out stays."""

    text: str | None = Field(None, min_length=1, max_length=65536)
    title: str | None = Field(None, max_length=200)
    mode: Literal["keep", "live"] | None = None
    timeliness: str | None = Field(None, max_length=60)
    active: bool | None = None


class FilterLine(Schema):
    """A filter of one's own.  ``error`` says why it does not run; it is empty if it does."""

    name: str
    title: str
    text: str
    phrase: str
    tql: str
    mode: str
    timeliness: str
    active: bool
    error: str


class FilterOut(FilterLine):
    """``complete_until``: its list has all that matched until then, and waits for what is named."""

    complete_until: datetime | None
    waits_for: list[str]


class MessageLine(Schema):
    """A message as a list shows it."""

    id: str
    sender: str
    sender_name: str
    subject: str
    received: datetime


class MatchOut(MessageLine):
    """A step of a filter's list: a message came (``insert``), or left it (``delete``)."""

    op: Literal["insert", "delete"]
    matched_at: datetime
    why: str


class MatchesOut(Schema):
    """Steps in their order.  ``next`` is the cursor after them: give it as ``after``.

    ``is_end``: nothing has come after the cursor yet.
    """

    matches: list[MatchOut]
    next: str
    is_end: bool


class TaskOut(Schema):
    """A question that the worker answers: ask its ``task`` again until it has an answer."""

    task: str


class FoundOut(Schema):
    """What a preview or a search has found, the newest first; ``messages`` are a page of it."""

    count: int
    messages: list[MessageLine]


class PartOut(Schema):
    """A part of a filter about a message; ``then``: when time alone changes it."""

    words: str
    holds: bool
    since: datetime | None
    then: datetime | None
    parts: list[PartOut]


class MessageOut(Schema):
    """A message as its reader may see it; ``text`` is its plain text."""

    id: str
    audience: str
    sender: str
    sender_name: str
    to: list[str]
    cc: list[str]
    subject: str
    newsgroups: list[str]
    date: datetime | None
    received: datetime | None
    in_reply_to: str
    references: list[str]
    text: str
    attachments: list[str]
    voted_for: list[str]
    voted_against: list[str]
    tags: dict[str, list[str]]


class AnnotationIn(Schema):
    """An opinion of the caller's: a vote (``number`` 1, -1, or 0 to take it back), a tag or a note
    (``value``), a priority (``number`` 1 to 10, or 0).  ``take_back`` names a tag by its word.
    """

    id: str = Field(min_length=1)
    audience: str = ""
    kind: Literal["vote", "tag", "note", "priority"]
    number: int | None = None
    value: str = ""
    take_back: str = ""
    private: bool = False


class ChangedOut(Schema):
    """Whether anything is otherwise now: the same opinion again is not.

    By its ``token`` (``/arrived/{token}``) one learns when filters and deliveries have it.
    """

    changed: bool
    token: str


class ArrivedOut(Schema):
    """Whether what a token is of has been run through the caller's filters, listed and delivered.

    ``waits_for`` says what is still to come, ``later`` what comes at a time that was chosen.
    """

    complete: bool
    waits_for: list[str]
    later: list[str]


class CopyIn(Schema):
    """A message, and of which copy."""

    id: str = Field(min_length=1)
    audience: str = ""


class ActIn(Schema):
    """An act on messages; ``until`` is for snoozing."""

    action: str
    messages: list[CopyIn] = Field(min_length=1, max_length=1000)
    until: datetime | None = None


class ActOut(Schema):
    """An act that was done: by its ``step`` it can be undone."""

    step: str
    count: int


def filter_line(of: Filter) -> FilterLine:
    """Return a filter as its owner sees it."""
    return FilterLine(
        name=of.name,
        title=of.display_name,
        text=of.text,
        phrase=of.phrase,
        tql=of.display_tql or of.tql,
        mode=of.mode,
        timeliness=of.timeliness,
        active=of.active,
        error=of.error,
    )


def message_out(reading: Reading) -> MessageOut:
    """Return a message as its reader may see it."""
    message, said = reading.message, reading.annotations
    return MessageOut(
        id=message.msgid,
        audience=message.audience,
        sender=message.sender or "",
        sender_name=message.sender_name or "",
        to=list(message.to),
        cc=list(message.cc),
        subject=message.subject or "",
        newsgroups=list(message.newsgroups),
        date=moment(message.date),
        received=moment(message.received),
        in_reply_to=message.inreplyto or "",
        references=list(message.references),
        text=message.body or "",
        attachments=[part.name for part in reading.letter.attachments],
        voted_for=list(said.voted_for),
        voted_against=list(said.voted_against),
        tags={tag: list(owners) for tag, owners in said.tags},
    )
