r"""Deliver into the owner's mailbox: IMAP APPEND of the original into a folder for each filter.

    Tapestry/lunch        what the filter "lunch" has found
    Tapestry/lunch/Left   what has left its list, if it is a live filter

Nothing is deleted.  IMAP can be asked: a message is searched for before it is appended, so that an
attempt that broke off between APPEND and confirmation repeats nothing (idempotent APPEND).  What a
person has moved or deleted stays so; a message that leaves a live list and comes back is put in
again.  A folder that they have renamed is followed (tapestry.deliver.imap.renamed).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from tapestry.core.errors import OwnFaultError, TapestryError
from tapestry.core.log import event
from tapestry.deliver.batch import Batch, DeliveredMatch, Outcome
from tapestry.deliver.imap.folders import MailFolders, NotAcceptedError, folder_name
from tapestry.deliver.imap.message_identity import MessageIdentity
from tapestry.identity.content import is_copy
from tapestry.servers.account import TIMEOUT, Account, RefusedError
from tapestry.servers.imap import connected, explained
from tapestry.tables.read.originals import Original

LEFT = "Left"
"""The folder, below that of a live filter, of the messages that no longer match."""

OriginalOf = Callable[[str, str], Original | None]
"""Return a message as it came, by its Message-ID and audience; None if it is not stored."""

Action = Literal["appended", "present", "moved", "moved_back", "untouched", "skipped"]
"""The fate of a message: it was ``present`` after an attempt that broke off, ``untouched``
where a person has moved or deleted it, ``skipped`` if it cannot be put in at all."""

LONGEST = 300.0
"""Seconds of one batch; then the connection is closed, and the rest is tried again.

A server that sends a byte now and then holds nobody up.
"""

MOST_NAMED = 3
"""Messages that an answer names one by one."""


@dataclass(frozen=True, slots=True)
class MailboxSettings:
    """The folder below which those of the filters are; slashes separate its levels.

    Nothing in it is taken in, so it may not be the INBOX: TapestryError is raised then.
    """

    parent: str = "Tapestry"

    def __post_init__(self) -> None:
        if self.parent.strip(" /").upper() in ("", "INBOX"):
            raise TapestryError(
                "The folders of filters need a parent folder of their own.",
                hint="Name one, such as Tapestry or Mail/Tapestry.",
            )


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The fate of one match; ``reason`` says why it was skipped."""

    match: DeliveredMatch
    action: Action
    reason: str = ""


@dataclass(slots=True)
class Mailbox:
    """A mailbox that is open for deliveries; other messages have the Message-IDs of ``shared``."""

    account: Account
    folders: MailFolders
    shared: Collection[str] = frozenset()

    def deliver(
        self,
        batch: Batch,
        original_of: OriginalOf,
        delivered: Collection[tuple[int, str]] = frozenset(),
        seen: Collection[str] = frozenset(),
    ) -> Iterator[Confirmation]:
        r"""Deliver the matches of a batch in order; yield what was done for each.

        A match counts as delivered when it is yielded: the caller stores that before it asks for
        the next.  ``delivered`` are the filters and Message-IDs that were confirmed before,
        ``seen`` the Message-IDs of messages that get \Seen.  Other flags are those of the original
        that the folder takes.

        Raises ConnectionLostError, RefusedError or MailboxFullError; what was yielded stays.  A
        message that the server refuses as too large is skipped.  If it refuses one and does not
        say why, that may concern all: the message is tried again after the next that it takes, and
        skipped if it is refused then too.  NotAcceptedError is raised if there is no such next.
        One of which ``original_of`` raises OwnFaultError is skipped too.
        """
        waiting: list[Confirmation] = []
        refusals: dict[int, NotAcceptedError] = {}  # by their place in ``waiting``
        for match in batch.matches:
            try:
                confirmation = self._deliver(match, original_of, delivered, seen)
            except NotAcceptedError as error:
                confirmation = Confirmation(match, "skipped", error.message)
                if not error.certain:
                    refusals[len(waiting)] = error
            waiting.append(confirmation)
            if confirmation.action == "appended":
                for place in refusals:
                    refused = waiting[place].match
                    with suppress(NotAcceptedError):
                        waiting[place] = self._deliver(refused, original_of, delivered, seen)
                refusals.clear()
            if not refusals:
                yield from waiting
                waiting.clear()
        for refusal in refusals.values():
            raise refusal

    def rename_filters(self, renamed: Mapping[str, str]) -> None:
        """Rename the folders of filters, given by their old names.

        A name that another one gives up is taken after that.  Filters that have exchanged their
        names keep their folders: what comes goes into the one of its filter's name.
        """
        waiting = dict(renamed)
        while free := [old for old, new in waiting.items() if new not in waiting]:
            for old in free:
                self.rename_filter(old, waiting.pop(old))

    def rename_filter(self, old_name: str, new_name: str) -> bool:
        """Rename the folder of a filter with what is in it; return whether that was done.

        It is not if there is none, or if there is one of the new name.
        """
        with explained(self.account):
            return self.folders.rename(old_name, new_name)

    def _deliver(
        self,
        match: DeliveredMatch,
        original_of: OriginalOf,
        delivered: Collection[tuple[int, str]],
        seen: Collection[str],
    ) -> Confirmation:
        try:
            original = original_of(match.msgid, match.audience)
        except OwnFaultError as error:
            return Confirmation(match, "skipped", error.message)
        with explained(self.account):
            return self._confirmed(match, original, delivered, seen)

    def _confirmed(
        self,
        match: DeliveredMatch,
        original: Original | None,
        delivered: Collection[tuple[int, str]],
        seen: Collection[str],
    ) -> Confirmation:
        identity = self._identity(match.msgid, original.raw if original else None)
        if identity is None:
            return Confirmation(match, "skipped", "Its original is no longer stored.")
        if match.op == "delete":
            return Confirmation(match, self._move_out(match.filter_name, identity))
        folder = self.folders.below(match.filter_name)
        copies = self.folders.find(folder, identity)
        if False in copies.values():
            return Confirmation(match, "present")
        if self._move_back(match.filter_name, identity):
            return Confirmation(match, "moved_back")
        if (match.filter_id, match.msgid) in delivered:
            return Confirmation(match, "untouched")
        if copies:
            return Confirmation(match, "present")  # and marked as deleted by its owner
        if original is None:
            return Confirmation(match, "skipped", "Its original is no longer stored.")
        self.folders.append(
            folder, original.raw, match.received, seen=match.msgid in seen, flags=original.flags
        )
        return Confirmation(match, "appended")

    def _identity(self, msgid: str, raw: bytes | None) -> MessageIdentity | None:
        """Return how a message is known again; None if that cannot be known without its original.

        A message with the Message-ID of another is known by its bytes, whichever came first here.
        """
        if raw is None:
            return MessageIdentity.of_msgid(msgid)
        is_shared = is_copy(msgid) or msgid in self.shared
        return MessageIdentity.of_bytes(raw) if is_shared else MessageIdentity.of(raw)

    def _move_out(self, filter_name: str, identity: MessageIdentity) -> Action:
        """Move what has left a list to the folder for that; its owner may have moved it before."""
        folder = self.folders.existing_below(filter_name)
        copies = self.folders.find(folder, identity) if folder else {}
        uids = [uid for uid, is_deleted in copies.items() if not is_deleted]
        if not folder:
            return "untouched"
        if not uids:
            return self._expunge(filter_name, folder, list(copies), identity)
        target = self.folders.below(filter_name, LEFT)
        self.folders.select(folder)
        self.folders.move(uids, target, identity)
        return "moved"

    def _expunge(
        self, filter_name: str, folder: str, marked: list[int], identity: MessageIdentity
    ) -> Action:
        r"""Expunge copies with \Deleted if one has been moved: an attempt broke off after STORE."""
        left = self.folders.existing_below(filter_name, LEFT) if marked else None
        if left is None or False not in self.folders.find(left, identity).values():
            return "untouched"
        self.folders.select(folder)
        return "moved" if self.folders.expunge(marked) else "untouched"

    def _move_back(self, filter_name: str, identity: MessageIdentity) -> bool:
        """Move a message back that had left its list; return whether it was there."""
        left = self.folders.existing_below(filter_name, LEFT)
        copies = self.folders.find(left, identity) if left else {}
        uids = [uid for uid, is_deleted in copies.items() if not is_deleted]
        if uids:
            self.folders.move(uids, self.folders.below(filter_name), identity)
        return bool(uids)


@contextmanager
def open_mailbox(
    account: Account,
    settings: MailboxSettings,
    timeout: float = TIMEOUT,
    seconds: float | None = None,
) -> Iterator[Mailbox]:
    """Connect and authenticate for the length of the block.

    ``timeout`` is seconds an answer, ``seconds`` limits all of it.
    Nothing is changed on the server before the first delivery, so that this also tests settings.
    Raises ConnectionLostError or RefusedError, in words.
    """
    with connected(account, timeout, seconds) as client:
        with explained(account):
            folders = MailFolders.of(account, client, settings.parent)
        yield Mailbox(account, folders)


def deliver_to_mailbox(
    account: Account,
    settings: MailboxSettings,
    batch: Batch,
    original_of: OriginalOf,
    confirm: Callable[[Confirmation], None],
    delivered: Collection[tuple[int, str]] = frozenset(),
    seen: Collection[str] = frozenset(),
    shared: Collection[str] = frozenset(),
    prepare: Callable[[Mailbox], None] = lambda mailbox: None,
) -> Outcome:
    """Deliver a batch; ``confirm`` is called after each match, and stores it.

    Before the first, ``prepare`` is called with the open mailbox.

    If the outcome is to try again, the next attempt needs only what was not confirmed.  See
    Mailbox.deliver for ``delivered`` and ``seen``; ``shared`` are those of the messages whose
    Message-ID another message has.
    """
    start = time.perf_counter()
    done: Counter[str] = Counter()
    skipped: list[Confirmation] = []
    state: Literal["delivered", "retry", "refused"] = "delivered"
    trouble: TapestryError | None = None
    try:
        with open_mailbox(account, settings, seconds=LONGEST) as mailbox:
            mailbox.shared = shared
            prepare(mailbox)
            for confirmation in mailbox.deliver(batch, original_of, delivered, seen):
                confirm(confirmation)
                done[confirmation.action] += 1
                if confirmation.action == "skipped":
                    skipped.append(confirmation)
    except OwnFaultError:
        raise  # no fault of the server: it is set aside
    except TapestryError as error:
        state, trouble = "refused" if isinstance(error, RefusedError) else "retry", error
    event(
        "mailbox_delivery",
        host=account.host,
        state=state,
        matches=len(batch.matches),
        **{action: done[action] for action in sorted(done)},
        seconds=time.perf_counter() - start,
        error=None if trouble is None else type(trouble).__name__,
    )
    return Outcome(state, _answer(done, skipped, trouble))


def _answer(done: Counter[str], skipped: list[Confirmation], trouble: TapestryError | None) -> str:
    sentences = [trouble.message, trouble.hint or ""] if trouble else []
    put_in = done["appended"] + done["present"]
    moved = done["moved"] + done["moved_back"]
    if put_in:
        sentences.append(f"{_messages(put_in)} put in.")
    if moved:
        sentences.append(f"{_messages(moved)} moved.")
    if skipped:
        sentences.append(f"{_messages(len(skipped))} left out.")
        sentences += [
            f"“{confirmation.match.subject}”: {confirmation.reason}"
            for confirmation in skipped[:MOST_NAMED]
        ]
    return " ".join(filter(None, sentences)) or "Nothing had to be done."


def _messages(number: int) -> str:
    return "1 message was" if number == 1 else f"{number} messages were"


def preview(batch: Batch, settings: MailboxSettings) -> tuple[tuple[str, DeliveredMatch], ...]:
    """Return each match with the folder that it would be put into, or moved to.

    The server may want another delimiter than the slash.
    """
    return tuple(
        (
            "/".join(
                [settings.parent, folder_name(match.filter_name)]
                + ([LEFT] if match.op == "delete" else [])
            ),
            match,
        )
        for match in batch.matches
    )
