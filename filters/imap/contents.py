"""The content of messages: their originals, read in batches as a mail program asks for many.

    FETCH 1:100 ─ the first is written ─> originals of the next BATCH, as far as the owner may see
                                          them now ─> parsed one by one, each as it is written

A message whose original was not kept, is gone, or cannot be read says so in its own place.
"""

from __future__ import annotations

import logging
import re
from asyncio import sleep
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import TypeVar

from pymap.flags import SessionFlags
from pymap.interfaces.message import MessageInterface
from pymap.message import BaseLoadedMessage
from pymap.mime import MessageContent
from pymap.parsing.response.fetch import BodyStructure, EnvelopeStructure
from pymap.parsing.specials import FetchRequirement, Flag, ObjectId

from filters.imap.commands import EVERY_HEADER
from filters.imap.envelope import Envelope
from filters.imap.letters import Letter
from filters.imap.parts import Part, Structure, part_at, texts
from filters.imap.threads import in_thread
from filters.inbox.mailboxes import NOT_KEPT, batch_of_originals
from filters.people.models import User
from tapestry.mime.charset import decode
from tapestry.mime.headers import decoded

log = logging.getLogger(__name__)

BATCH = 100
"""Originals that are read together."""

SHORT = 64 * 1024
"""Bytes of a message that is parsed without a thread of its own."""

UNREADABLE = b"Subject: (unreadable)\r\n\r\nThe original of this message cannot be read.\r\n"

UNREAD = (ValueError, LookupError, TypeError, AttributeError, RecursionError, AssertionError)
"""What parsers of mail raise where a message is not what they expect."""

Made = TypeVar("Made", EnvelopeStructure, BodyStructure)

_HEAD_END = re.compile(rb"\n[ \t]*\r?\n")
_LINE_END = re.compile(rb"\r?\n")

Owner = Callable[[], User]
"""Returns whose mailbox it is, or raises if they may no longer read it here."""

draining: ContextVar[Callable[[], Awaitable[None]]] = ContextVar("draining")
"""Waits until a program has taken most of what was written for it."""


class Originals:
    """The originals of the messages of one command, in their order."""

    def __init__(self, owner: Owner, letters: Sequence[Letter]) -> None:
        self._owner, self._letters = owner, letters
        self._raws: dict[int, bytes] = {}

    def is_at_hand(self, place: int) -> bool:
        """Tell whether a message was read already, and is soon parsed."""
        raw = self._raws.get(self._letters[place].card)
        return raw is not None and len(raw) < SHORT

    def content(self, place: int, requirement: FetchRequirement) -> MessageContent:
        """Return the message at a place, parsed as far as is required; it is asked for once."""
        card = self._letters[place].card
        if card not in self._raws:
            self._read(self._letters[place : place + BATCH])
        if card not in self._raws:
            self._read(self._letters[place : place + 1])
        raw = self._raws.pop(card, b"")
        is_head = requirement.has_none(FetchRequirement.BODY)
        if is_head and (head := _HEAD_END.search(raw)):
            raw = raw[: head.end()]
        # NUL is in no literal (RFC 3501, 4.3), and lines end with CRLF.
        lines = _LINE_END.sub(b"\r\n", raw.replace(b"\0", b"")) or NOT_KEPT
        try:
            return Part.head(lines) if is_head else Part.parse(lines)
        except UNREAD as error:
            log.warning("card=%s cannot be parsed for IMAP: %s", card, error)
            return Part.parse(UNREADABLE)

    def _read(self, letters: Sequence[Letter]) -> None:
        self._raws = batch_of_originals(self._owner(), [letter.card for letter in letters])


class Content(BaseLoadedMessage):
    """The content of a message; one header that cannot be read costs its structure alone."""

    def _get_subpart(self, section: Sequence[int] | None) -> MessageContent:
        return part_at(self.content, section or ())

    @classmethod
    def _get_envelope_structure(cls, msg: MessageContent) -> EnvelopeStructure:
        return Envelope(msg.header)

    @classmethod
    def _get_body_structure(cls, msg: MessageContent) -> BodyStructure:
        return Structure(msg)

    def contains(self, value: bytes) -> bool:
        """Tell whether its body has a text: as it is read, decoded, in upper or lower case."""
        wanted = value.decode().casefold()
        return any(wanted in text.casefold() for text in texts(self.content))

    def get_header(self, name: bytes) -> Sequence[str]:
        if name == EVERY_HEADER.encode():
            return [decoded(decode(bytes(self.content.header)))]
        return super().get_header(name)

    def get_envelope_structure(self) -> EnvelopeStructure:
        return self._written(super().get_envelope_structure, EnvelopeStructure.empty())

    def get_body_structure(self) -> BodyStructure:
        return self._written(super().get_body_structure, BodyStructure.empty())

    def _written(self, made: Callable[[], Made], otherwise: Made) -> Made:
        """Return a structure that can be written, which happens as it is sent."""
        try:
            structure = made()
            bytes(structure)
        except UNREAD as error:
            log.warning("uid=%s has no structure for IMAP: %s", self.message.uid, error)
            return otherwise
        return structure


class Message(MessageInterface):
    """A message as one command asks for it: a letter, and its place among the originals."""

    __slots__ = ("_letter", "_originals", "_place")

    expunged = False

    def __init__(self, letter: Letter, originals: Originals, place: int) -> None:
        self._letter, self._originals, self._place = letter, originals, place

    @property
    def uid(self) -> int:
        return self._letter.uid

    @property
    def internal_date(self) -> datetime:
        return self._letter.internal_date

    @property
    def permanent_flags(self) -> frozenset[Flag]:
        return self._letter.permanent_flags

    @property
    def email_id(self) -> ObjectId:
        return self._letter.email_id

    @property
    def thread_id(self) -> ObjectId:
        return self._letter.thread_id

    def get_flags(self, session_flags: SessionFlags) -> frozenset[Flag]:
        return self._letter.permanent_flags

    async def load_content(self, requirement: FetchRequirement) -> Content:
        """Return it with its content, once the program has taken most of what was written."""
        await draining.get()()
        if self._place % BATCH == 0:
            await sleep(0)  # others are served meanwhile
        if requirement.has_none(FetchRequirement.CONTENT):
            return Content(self, requirement, None)
        if self._originals.is_at_hand(self._place):
            return self.loaded(requirement)
        return await in_thread(self.loaded, requirement)

    def loaded(self, requirement: FetchRequirement) -> Content:
        """Return it with its content, as far as that is required, in this thread."""
        needed = not requirement.has_none(FetchRequirement.CONTENT)
        content = self._originals.content(self._place, requirement) if needed else None
        return Content(self, requirement, content)
