r"""Acts in a mailbox: flags that are set, messages that are moved; nothing is ever expunged.

    located ─ place stored ─> STORE +FLAGS ─> MOVE ─> done
                              STORE -FLAGS <─ MOVE <─ undone

The place of a message (folder, UIDVALIDITY, UID, and which of the flags it had) is known before
anything is done, so an attempt that broke off is gone on with: a UID that is not there any more was
moved, and no message is moved twice.  Without MOVE (RFC 6851) nothing is moved: to copy a message
and delete the original would need an EXPUNGE.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.core.errors import TapestryError
from tapestry.deliver.imap.folders import MailFolders
from tapestry.deliver.imap.message_identity import MessageIdentity
from tapestry.servers.account import Account, RefusedError
from tapestry.servers.imap import UNREADABLE, hierarchy_of, listed_folders
from tapestry.servers.imap_flags import permitted
from tapestry.servers.quoted_reply import quoted_reply

TRASH = rb"\trash"
"""The special use of a mailbox (\\Trash, RFC 6154), in lower case as folders are listed."""

SEEN, FLAGGED, DELETED = "\\Seen", "\\Flagged", rb"\deleted"


class NotDoneError(TapestryError):
    """Something cannot be done with one message; others may be."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a message before anything was done with it.

    ``had`` are the flags, of those to be set, that it had.  ``target`` is the full name of the
    folder to which it is to be moved, empty if it stays; ``home`` that to which undoing moves it
    back.  ``uid`` is 0 where it is to be located anew: since undoing has begun, say.
    """

    folder: str
    uidvalidity: int
    uid: int
    had: tuple[str, ...] = ()
    target: str = ""
    home: str = ""


@dataclass(frozen=True, slots=True)
class ActingMailbox:
    """A mailbox of which messages are flagged and moved; ``trash`` is empty if it has none."""

    folders: MailFolders
    trash: str = ""

    @classmethod
    def of(cls, account: Account, client: Any) -> ActingMailbox:
        """Return the mailbox of an open connection."""
        listed = [row for row in listed_folders(client) if not row[0] & UNREADABLE]
        names = {name for _, name in listed}
        trash = sorted(name for flags, name in listed if TRASH in flags)
        folders = MailFolders(account, client, hierarchy_of(client), "", names)
        return cls(folders, trash[0] if trash else "")

    def full_name(self, folder: str) -> str:
        """Return the name of a folder as the server has it; slashes separate levels in ``folder``.

        >>> from tapestry.servers.imap import Hierarchy
        >>> ActingMailbox(MailFolders(None, None, Hierarchy("INBOX.", "."), "", set())).full_name(
        ...     "Lists/Tapestry")
        'INBOX.Lists.Tapestry'
        """
        if folder.upper() == "INBOX":
            return "INBOX"
        return folder if folder in self.folders.existing else self.folders.hierarchy.path(folder)

    def locate(
        self, identity: MessageIdentity, raw: bytes, among: Iterable[str], flags: Collection[str]
    ) -> Place | None:
        r"""Return where a message is, in the first of some folders that has it; None if in none.

        What its owner marked as \Deleted is not there.  Of several with its Message-ID it is the
        one that is it byte by byte.
        """
        for folder in among:
            if folder != "INBOX" and folder not in self.folders.existing:
                continue
            uids = self._find(folder, identity, raw)
            for uid, had in self._flags(uids).items():
                if DELETED not in had:
                    same = tuple(flag for flag in flags if flag.lower().encode() in had)
                    return Place(folder, self.folders.validities[folder], uid, same, home=folder)
        return None

    def do(
        self, place: Place, identity: MessageIdentity, raw: bytes, flags: Collection[str]
    ) -> None:
        """Set flags of a message, then move it to ``place.target``; again, it is gone on with.

        Raises NotDoneError, once all else is done, if the folder takes no such flag, or the server
        moves nothing, or the message is not there any more.
        """
        if not self._is_there(place):
            if place.target and self._find(place.target, identity, raw):
                return  # an attempt that broke off has moved it
            raise NotDoneError("You have moved or deleted it in the meantime.")
        client, taken = self.folders.client, permitted(flags, self._permanent())
        if taken:
            self._ask(client.add_flags, [place.uid], taken, True)
        if place.target and place.target != place.folder:
            self._move(place.uid, place.folder, place.target)
        refused = sorted(flag for flag in flags if flag.encode() not in taken)
        if refused:
            raise NotDoneError(f"{place.folder} takes no flag {', '.join(refused)}.")

    def undo(
        self,
        place: Place,
        identity: MessageIdentity,
        raw: bytes,
        among: Iterable[str],
        flags: Collection[str],
    ) -> None:
        """Remove flags of a message, in the first of some folders that has it.

        It is moved home if it is where it was moved to.  Raises NotDoneError if it is in none.
        """
        for folder in among:
            uids = self._find(folder, identity, raw)
            if not uids:
                continue
            taken = permitted(flags, self._permanent())
            if taken:
                self._ask(self.folders.client.remove_flags, uids, taken, True)
            if folder == place.target != place.home:
                self._move(uids[0], folder, place.home)
            return
        raise NotDoneError("You have moved or deleted it since.")

    def _find(self, folder: str, identity: MessageIdentity, raw: bytes) -> list[int]:
        if folder != "INBOX" and folder not in self.folders.existing:
            return []
        found = self.folders.find(folder, identity)
        if len(found) > 1:
            found = self.folders.find(folder, MessageIdentity.of_bytes(raw)) if raw else {}
        return [uid for uid, is_deleted in sorted(found.items()) if not is_deleted][:1]

    def _flags(self, uids: Collection[int]) -> dict[int, set[bytes]]:
        fetched: Any = self.folders.client.fetch(uids, ["FLAGS"]) if uids else {}
        return {
            uid: {flag.lower() for flag in fetched[uid].get(b"FLAGS", ())}
            for uid in uids
            if uid in fetched
        }

    def _is_there(self, place: Place) -> bool:
        if place.folder != "INBOX" and place.folder not in self.folders.existing:
            return False
        self.folders.select(place.folder)
        is_same = self.folders.validities[place.folder] == place.uidvalidity
        return is_same and DELETED not in self._flags([place.uid]).get(place.uid, {DELETED})

    def _permanent(self) -> Collection[bytes] | None:
        r"""Return the flags that the open folder keeps; \Seen is one that every folder has."""
        permanent = self.folders.permanent
        return [rb"\Seen", rb"\Flagged"] if permanent is None else permanent

    def _move(self, uid: int, folder: str, target: str) -> None:
        folders = self.folders
        if not folders.client.has_capability("MOVE"):
            raise NotDoneError(f"{folders.account.host} cannot move messages (RFC 6851).")
        try:
            folders.ensure(target)
        except RefusedError as error:
            raise NotDoneError(error.message) from error
        folders.select(folder)
        self._ask(folders.client.move, [uid], target)

    def _ask(self, request: Callable[..., Any], *arguments: Any) -> None:
        """Ask the server to change one message; raise NotDoneError if it refuses that."""
        try:
            request(*arguments)
        except IMAPClientAbortError:
            raise
        except IMAPClientError as error:
            account = self.folders.account
            reply = quoted_reply(error, account.secret)
            raise NotDoneError(f"{account.host} does not do it: {reply}.") from error


def flags_of(acts: Collection[str], keyword: str) -> tuple[str, ...]:
    r"""Return the flags that acts set, by their names.

    >>> flags_of(["flag", "tag", "move"], "todo")
    ('\\Flagged', 'todo')
    """
    named = {"seen": SEEN, "flag": FLAGGED, "tag": keyword}
    return tuple(flag for name, flag in named.items() if name in acts and flag)
