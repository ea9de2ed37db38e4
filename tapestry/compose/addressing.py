"""Recipients and references of a reply or a follow-up (RFC 5322, section 3.6.4).

| way | to | cc |
|---|---|---|
| reply | Reply-To, else From; the recipients of a message of one's own | nobody |
| all | the same | To and Cc of the message, without one's own addresses |
| list | List-Post (RFC 2369) | nobody |
| followup | the newsgroups of Followup-To, else Newsgroups (RFC 5536, 3.2.6) | nobody |
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from tapestry.compose.recipients import Recipient, unique
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.deliver.mail.recipient_address import recipient_address
from tapestry.identity.content import message_id_of
from tapestry.mime.address import mailboxes
from tapestry.mime.header_section import headers_of, values_by_name
from tapestry.mime.headers import newsgroups

Way = Literal["reply", "all", "list", "followup"]

LONGEST_ID = 900
"""Characters of a Message-ID that can be referred to: a line has 998 (RFC 5322, 2.1.1)."""

MOST_REFERENCES = 50
"""Messages that a reply refers to: of a longer chain the first, and the last (RFC 5537, 3.4.4)."""

POSTER = "poster"
"""The value of Followup-To that asks for replies by mail."""

_MAILTO = re.compile(r"<\s*mailto:([^<>?\s]++)[^<>]*+>", re.IGNORECASE)
_MESSAGE_ID = re.compile(r"[!-;=?-~]+@[!-;=?-~]+")
_MADE = ("@content.invalid", "@long.invalid")
"""Ends of Message-IDs that no message has: they were made for messages without a usable one."""


@dataclass(frozen=True, slots=True)
class Addressed:
    """The recipients of a reply; with newsgroups it is posted there."""

    to: tuple[Recipient, ...] = ()
    cc: tuple[Recipient, ...] = ()
    newsgroups: tuple[str, ...] = ()


Headers = dict[str, list[str]]


def read_headers(raw: bytes | None) -> Headers:
    """Return the headers of an original by their names in lower case; none if it is not kept."""
    return values_by_name(headers_of(raw)[0]) if raw else {}


def addressed(way: Way, message: Message, headers: Headers, own: Collection[str]) -> Addressed:
    """Return whom a reply goes to; ``own`` are the addresses of the person who writes it.

    Where a list names no address for posts, a reply to it is one to all.
    """
    if way == "followup" and message.newsgroups:
        named = newsgroups(next(iter(headers.get("followup-to", [])), ""))
        if POSTER not in named:
            return Addressed(newsgroups=named or message.newsgroups)
    if way == "list" and (posts := list_post(headers)) is not None:
        return Addressed((posts,))
    own_keys = {address.casefold() for address in own}
    to = _targets(message, headers, own_keys)
    if way in ("reply", "followup"):
        return Addressed(to)
    known = own_keys | {recipient.key for recipient in to}
    return Addressed(to, unique(_recipients(message, headers), known))


def list_post(headers: Headers) -> Recipient | None:
    """Return the address of a list for posts; None if it names none, or takes none (NO)."""
    for value in headers.get("list-post", []):
        for found in _MAILTO.finditer(value):
            for recipient in _usable([Recipient(unquote(found[1]))]):
                return recipient
    return None


def _targets(message: Message, headers: Headers, own: Collection[str]) -> tuple[Recipient, ...]:
    asked = _boxes(headers.get("reply-to", []))
    wanted = unique(asked or _authors(message, headers))
    if all(recipient.key in own for recipient in wanted):
        to = unique(_boxes(headers.get("to", [])) or _plain(message.to), own)
        return to or wanted
    return wanted


def _authors(message: Message, headers: Headers) -> list[Recipient]:
    named = _boxes(headers.get("from", []))
    if named:
        return named
    return _usable([Recipient(message.sender or "", message.sender_name or "")])


def _recipients(message: Message, headers: Headers) -> list[Recipient]:
    named = _boxes([*headers.get("to", []), *headers.get("cc", [])])
    return named or [*_plain(message.to), *_plain(message.cc)]


def _boxes(values: Iterable[str]) -> list[Recipient]:
    return _usable(Recipient(box.address, box.name) for value in values for box in mailboxes(value))


def _plain(addresses: Iterable[str]) -> list[Recipient]:
    return _usable(map(Recipient, addresses))


def _usable(recipients: Iterable[Recipient]) -> list[Recipient]:
    """Return those that mail can be sent to: strangers write what they like."""
    usable = []
    for recipient in recipients:
        try:
            recipient_address(recipient.address)
        except TapestryError:
            continue
        usable.append(recipient)
    return usable


def references(message: Message) -> tuple[str | None, tuple[str, ...]]:
    """Return In-Reply-To and References of a reply, without angle brackets.

    A message without a Message-ID of its own cannot be referred to, only its predecessors.

    >>> references(Message("b@x.org", references=("a@x.org",)))
    ('b@x.org', ('a@x.org', 'b@x.org'))
    >>> references(Message("0123@content.invalid"))
    (None, ())
    """
    msgid = message_id_of(message.msgid)
    earlier = message.references or ((message.inreplyto,) if message.inreplyto else ())
    chain = [name for name in dict.fromkeys((*earlier, msgid)) if can_be_named(name)]
    if len(chain) > MOST_REFERENCES:
        chain = [chain[0], *chain[1 - MOST_REFERENCES :]]
    return (msgid if can_be_named(msgid) else None), tuple(chain)


def can_be_named(msgid: str) -> bool:
    """Return whether a Message-ID can stand in a header, and is that of a message."""
    return (
        len(msgid) <= LONGEST_ID
        and not msgid.endswith(_MADE)
        and _MESSAGE_ID.fullmatch(msgid) is not None
    )
