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


Mode = Literal["keep", "live", "wait"]


class TextIn(Schema):
    """A text of a filter, in words or in TQL."""

    text: str = Field(min_length=1, max_length=65536)


class PreviewIn(TextIn):
    """What it would have matched so far; of ``mode`` "live", what it matches now."""

    mode: Mode = "keep"


class BacktestIn(PreviewIn):
    """A backtest looks at the last ``weeks``."""

    weeks: Literal[4, 12, 52] = 12


class UnderstoodOut(Schema):
    """How a text is understood: as a phrase, if there is one for it, and in TQL."""

    phrase: str
    tql: str


class FilterOptions(Schema):
    """Options of a filter, as on the page on which it is written; what is left out stays.

    ``destinations``: keys of those to which it is sent, besides those that take all filters.
    ``until``: the last day, in its owner’s time zone, on which it collects, "" for no end.
    """

    title: str | None = Field(None, max_length=200)
    mode: Mode | None = None
    timeliness: str | None = Field(None, max_length=60)
    while_unread: bool | None = None
    visibility: Literal["private", "shared"] | None = None
    until: str | None = Field(None, max_length=10)
    destinations: list[str] | None = None
    acts: list[str] | None = None
    acts_a_day: int | None = None
    acts_existing: bool | None = None
    acts_label: str | None = None
    acts_keyword: str | None = None
    acts_folder: str | None = None


class FilterIn(FilterOptions, TextIn):
    """A new filter; without a name it is called by its phrase.

    ``existing``: with existing mail, and not from now on.
    """

    name: str = Field("", max_length=60)
    existing: bool = True


class FilterChange(FilterOptions):
    """What becomes of a filter; ``forget``: what another text found does not stay."""

    text: str | None = Field(None, min_length=1, max_length=65536)
    name: str | None = Field(None, max_length=60)
    existing: bool | None = None
    forget: bool = False
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
    visibility: str
    acts: list[str]
    active: bool
    error: str


class FilterOut(FilterLine):
    """``complete_until``: its list has all that matched until then, and waits for what is named.

    ``next`` is the cursor after all steps of its list: give it as ``after`` for what is to come.
    """

    complete_until: datetime | None
    waits_for: list[str]
    next: str


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


class BacktestStep(MessageLine):
    """A message that would have come into a list or left it; votes and replies up to then."""

    op: Literal["insert", "delete"]
    at: datetime
    votes_for: int
    votes_against: int
    replies: int


class BacktestOut(Schema):
    """What a filter would have delivered: of how many messages, and how many it would let go.

    ``deliveries`` are a page of it, the newest first.
    """

    count: int
    messages: int
    let_go: int
    deliveries: list[BacktestStep]


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


class ThreadLine(MessageLine):
    """A message of a thread: what it replies to, and how many replies are above it."""

    depth: int
    parent: str


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

    By its ``change`` it can be undone for ten minutes; by its ``token`` (``/arrived/{token}``) one
    learns when filters and deliveries have it.
    """

    changed: bool
    change: str = ""
    token: str


class ArrivedOut(Schema):
    """Whether what a token is of has been run through the caller's filters, listed and delivered.

    ``waits_for`` says what is still to come, ``later`` what comes at a time that was chosen.
    """

    complete: bool
    waits_for: list[str]
    later: list[str]


class UndoneIn(Schema):
    """The ``change`` that is to be undone."""

    change: str


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
        visibility=of.visibility,
        acts=of.acts.split(),
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
