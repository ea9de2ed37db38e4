"""What a signed-in mail program may do: read, search, and set the flags that are kept here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, TypeVar

from pymap.concurrent import Event
from pymap.exceptions import MailboxNotFound
from pymap.flags import FlagOp, PermanentFlags, SessionFlags
from pymap.interfaces.session import SessionInterface
from pymap.listtree import ListTree
from pymap.mailbox import MailboxSnapshot
from pymap.parsing.message import AppendMessage
from pymap.parsing.response.code import AppendUid, CopyUid
from pymap.parsing.specials import FetchRequirement, Flag, ObjectId, SearchKey, SequenceSet
from pymap.parsing.specials.flag import Deleted, Seen, Wildcard
from pymap.search import SearchCriteriaSet, SearchParams
from pymap.selected import SelectedMailbox

from filters.api.authentication import token_with
from filters.imap import folders
from filters.imap.commands import without_text
from filters.imap.contents import Message, Originals
from filters.imap.letters import PERMANENT, Letter, first_unseen
from filters.imap.models import ImapFolder
from filters.imap.refusals import CANNOT_DELETE, CANNOT_PUT, CannotError, EndedError, LimitError
from filters.imap.releases import LOOK, Releases
from filters.imap.threads import in_thread
from filters.inbox import mailboxes
from filters.inbox.counts import newest_of
from filters.people.models import User

T = TypeVar("T")

SCOPE = "imap"

POLL = 1.5
"""Seconds between two looks at the lists while a program waits (IDLE) and nothing new is shown."""

MOST_SEARCHED = 2000
"""Messages whose text one search reads."""

Found = tuple[int, Message]

_releases = Releases()


class Session(SessionInterface):
    """The mailboxes of the owner of a token, for as long as that stands."""

    filter_set = None

    def __init__(self, token: int, name: str) -> None:
        self._token, self._name = token, name

    @property
    def owner(self) -> str:
        return self._name

    def close(self) -> None:
        """Hold nothing: each command asks anew."""

    async def cleanup(self) -> None:
        """Hold nothing: each command asks anew."""

    async def list_mailboxes(
        self,
        ref_name: str,
        filter_: str,
        subscribed: bool = False,
        selected: SelectedMailbox | None = None,
    ) -> tuple[Iterable[tuple[str, str | None, Sequence[bytes]]], SelectedMailbox | None]:
        if not filter_:
            return [("", folders.DELIMITER, [b"Noselect"])], selected
        names = await self._run(folders.names)
        tree = ListTree(folders.DELIMITER).update(*names)
        entries = tree.list_matching(ref_name, filter_)
        return [(entry.name, folders.DELIMITER, entry.attributes) for entry in entries], selected

    async def get_mailbox(
        self, name: str, selected: SelectedMailbox | None = None
    ) -> tuple[MailboxSnapshot, SelectedMailbox | None]:
        _, folder, letters = await self._run(_opened, name)
        return _snapshot(folder, letters), selected and await self._updated(selected)

    async def select_mailbox(
        self, name: str, readonly: bool = False
    ) -> tuple[MailboxSnapshot, SelectedMailbox]:
        mark, folder, letters = await self._run(_opened, name)
        flags = PermanentFlags(PERMANENT), SessionFlags(())
        selected = SelectedMailbox(_identifier(folder), readonly, *flags, lookup=name)
        selected.add_updates(letters, [])
        selected.mod_sequence = mark
        return _snapshot(folder, letters), selected

    async def check_mailbox(
        self,
        selected: SelectedMailbox,
        *,
        wait_on: Event | None = None,
        housekeeping: bool = False,
    ) -> SelectedMailbox:
        while wait_on is not None and not wait_on.is_set():
            newest = await self._run(newest_of)
            if await self._run(mailboxes.mark) != selected.mod_sequence:
                break
            await self._pause(wait_on, newest)
        return await self._updated(selected)

    async def fetch_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, set_seen: bool
    ) -> tuple[Iterable[Found], SelectedMailbox]:
        wanted = selected.messages.get_all(sequence_set)
        if set_seen:
            await self._store(wanted, frozenset({Seen}), FlagOp.ADD)
        await self._updated(selected)
        return self._messages(selected, wanted), selected

    async def search_mailbox(
        self, selected: SelectedMailbox, keys: frozenset[SearchKey]
    ) -> tuple[Iterable[Found], SelectedMailbox]:
        keys = without_text(keys)
        search = SearchCriteriaSet(keys, SearchParams(selected))
        wanted = selected.messages.get_all(search.sequence_set)
        required = FetchRequirement.reduce(key.requirement for key in keys)
        if len(wanted) > MOST_SEARCHED and not required.has_none(FetchRequirement.CONTENT):
            raise LimitError(
                f"The text of at most {MOST_SEARCHED:,} messages is searched at a time. Name fewer,"
                " or search in Tapestry."
            )
        messages = self._messages(selected, wanted)

        def matching() -> list[Found]:
            return [
                (number, message)
                for number, message in messages
                if search.matches(number, message, message.loaded(required))
            ]

        return await in_thread(matching), await self._updated(selected)

    async def update_flags(
        self,
        selected: SelectedMailbox,
        sequence_set: SequenceSet,
        flag_set: frozenset[Flag],
        mode: FlagOp = FlagOp.REPLACE,
    ) -> tuple[Iterable[Found], SelectedMailbox]:
        if selected.readonly:
            raise CannotError("The mailbox was opened with EXAMINE, to be read only.")
        if Deleted in flag_set and mode is not FlagOp.DELETE:
            raise CannotError(CANNOT_DELETE)
        wanted = selected.messages.get_all(sequence_set)
        await self._store(wanted, flag_set, mode)
        await self._updated(selected)
        return self._messages(selected, wanted), selected

    async def expunge_mailbox(
        self, selected: SelectedMailbox, uid_set: SequenceSet | None = None
    ) -> SelectedMailbox:
        """Delete nothing: no message has the flag that asks for it."""
        return await self._updated(selected)

    async def subscribe(
        self, name: str, selected: SelectedMailbox | None = None
    ) -> SelectedMailbox | None:
        """Do nothing: all mailboxes are subscribed."""
        return selected

    async def unsubscribe(
        self, name: str, selected: SelectedMailbox | None = None
    ) -> SelectedMailbox | None:
        raise CannotError("All mailboxes are subscribed here. Choose in your mail program.")

    async def create_mailbox(self, name: str, selected: SelectedMailbox | None = None) -> NoReturn:
        raise CannotError("Write a filter in Tapestry, and it has a mailbox here.")

    async def delete_mailbox(self, name: str, selected: SelectedMailbox | None = None) -> NoReturn:
        raise CannotError("Delete the filter in Tapestry, and its mailbox is gone.")

    async def rename_mailbox(
        self, before_name: str, after_name: str, selected: SelectedMailbox | None = None
    ) -> NoReturn:
        raise CannotError(CANNOT_PUT)

    async def append_messages(
        self,
        name: str,
        messages: Sequence[AppendMessage],
        selected: SelectedMailbox | None = None,
    ) -> tuple[AppendUid, SelectedMailbox | None]:
        raise CannotError(CANNOT_PUT)

    async def copy_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, mailbox: str
    ) -> tuple[CopyUid | None, SelectedMailbox]:
        raise CannotError(CANNOT_PUT)

    async def move_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, mailbox: str
    ) -> tuple[CopyUid | None, SelectedMailbox]:
        raise CannotError(CANNOT_PUT)

    async def _pause(self, done: Event, newest: int) -> None:
        """Wait for POLL seconds, or until something newer is shown to the person."""
        position = -1
        for _ in range(round(POLL / LOOK)):
            await done.wait(timeout=LOOK)
            before, position = position, await _releases.position()
            if done.is_set() or (position != before and await self._run(newest_of) != newest):
                return

    async def _run(self, work: Callable[..., T], *arguments: object) -> T:
        """Call a function of the token's owner, and more, in a thread."""
        return await in_thread(lambda: work(self._user(), *arguments))

    def _user(self) -> User:
        token = token_with(self._token, SCOPE)
        if token is None:
            raise EndedError
        return token.owner

    def _messages(
        self, selected: SelectedMailbox, wanted: Iterable[tuple[int, object]]
    ) -> list[Found]:
        """Return messages as they are by now, with what can be read of them."""
        numbers, letters = [], []
        for number, before in wanted:
            assert isinstance(before, Letter)
            now = selected.messages.get(before.uid)
            numbers.append(number)
            letters.append(now if isinstance(now, Letter) else before)
        originals = Originals(self._user, letters)
        return [
            (number, Message(letter, originals, place))
            for place, (number, letter) in enumerate(zip(numbers, letters, strict=True))
        ]

    async def _store(
        self, wanted: Iterable[tuple[int, object]], flags: frozenset[Flag], mode: FlagOp
    ) -> None:
        letters = [letter for _, letter in wanted if isinstance(letter, Letter)]
        await self._run(folders.store, letters, flags, mode)

    async def _updated(self, selected: SelectedMailbox) -> SelectedMailbox:
        """Tell the program's picture of a mailbox what has changed in the list, if anything has."""
        if await self._run(mailboxes.mark) != selected.mod_sequence:
            try:
                mark, folder, letters = await self._run(_opened, selected.lookup)
            except MailboxNotFound:
                selected.set_deleted()
                return selected
            if _identifier(folder) != selected.mailbox_id:
                selected.set_deleted()
                return selected
            selected.set_messages(letters)
            selected.mod_sequence = mark
        return selected


def _opened(user: User, name: str) -> tuple[str, ImapFolder, list[Letter]]:
    mark = mailboxes.mark(user)
    folder = folders.folder_named(user, name)
    if folder is None:
        raise MailboxNotFound(name)
    return mark, folder, folders.letters(user, folder, mark)


def _identifier(folder: ImapFolder) -> ObjectId:
    return ObjectId(b"F" + folder.digest.encode())


class Snapshot(MailboxSnapshot):
    r"""A mailbox as it is selected; ``\*`` is no flag that a message has (RFC 3501, 7.1)."""

    @property
    def flags(self) -> frozenset[Flag]:
        return super().flags - {Wildcard}


def _snapshot(folder: ImapFolder, letters: Sequence[Letter]) -> Snapshot:
    flags = PERMANENT.union(*{letter.permanent_flags for letter in letters})
    unseen = sum(Seen not in letter.permanent_flags for letter in letters)
    return Snapshot(
        _identifier(folder),
        False,
        folder.uid_validity,
        flags,
        frozenset(),
        len(letters),
        0,
        unseen,
        first_unseen(letters),
        folder.next_uid,
    )
