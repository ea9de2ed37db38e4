r"""Flags and keywords of the newest messages of a folder, and what has changed of them.

With CONDSTORE (RFC 7162) only what has changed since is asked for; without, the newest of all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from tapestry.deliver.imap.folders import MailFolders
from tapestry.deliver.imap.message_identity import message_id_field
from tapestry.servers.imap import unless_refused
from tapestry.servers.imap_flags import is_tag

NEWEST = 1_000
"""Messages of a folder whose flags are looked at."""

_WINDOW = 5 * NEWEST
_FIELD = "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags of a message: it is read, it is flagged; ``keywords`` are those that are tags."""

    seen: bool = False
    flagged: bool = False
    keywords: frozenset[str] = frozenset()

    @classmethod
    def of(cls, named: Iterable[bytes]) -> Flags:
        r"""Return the flags that a server names.

        >>> Flags.of([b"\\SEEN", b"todo"])
        Flags(seen=True, flagged=False, keywords=frozenset({'todo'}))
        """
        names = [flag.decode(errors="replace") for flag in named]
        lower = {name.lower() for name in names}
        return cls(r"\seen" in lower, r"\flagged" in lower, frozenset(filter(is_tag, names)))


def merged(base: bool, here: bool, there: bool) -> bool:
    """Return what a flag becomes, of which both sides may have changed what was last the same.

    >>> [merged(base, here, there) for base, here, there in [(0, 1, 0), (1, 1, 0), (1, 0, 0)]]
    [1, 0, 0]
    """
    return here if here != base else there


@dataclass(slots=True)
class FolderFlags:
    """Flags of a folder by UID, as far as known; ``names`` are Message-IDs of new UIDs.

    ``uids`` are those of its newest messages, ``modseq`` HIGHESTMODSEQ, 0 without CONDSTORE.
    ``permanent`` are the flags that it keeps, None if the server does not say.
    """

    uidvalidity: int
    modseq: int
    uids: frozenset[int]
    flags: dict[int, Flags] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    permanent: Collection[bytes] | None = None


def read_flags(
    folders: MailFolders, folder: str, known: Collection[int], uidvalidity: int, modseq: int
) -> FolderFlags | None:
    """Open a folder; return its flags, of ``known`` UIDs those that changed since ``modseq``.

    None if there is no such folder.  ``known`` are of ``uidvalidity``: of another they are new.
    """
    client = folders.client
    response: Any = unless_refused(client.select_folder, folder)
    folders.selected = None
    if response is None:
        return None
    is_same = int(response.get(b"UIDVALIDITY", 0)) == uidvalidity
    last = int(response.get(b"UIDNEXT") or 0)
    newest = sorted(client.search(["UID", f"{max(1, last - _WINDOW)}:*"]))[-NEWEST:]
    now = int(response.get(b"HIGHESTMODSEQ") or 0)
    found = FolderFlags(int(response.get(b"UIDVALIDITY", 0)), now, frozenset(newest))
    found.permanent = response.get(b"PERMANENTFLAGS")
    old = [uid for uid in newest if is_same and uid in known]
    new = [uid for uid in newest if not (is_same and uid in known)]
    can_ask = bool(now and modseq and client.has_capability("CONDSTORE"))
    changed = [f"CHANGEDSINCE {modseq}"] if can_ask else None
    if old and not (can_ask and now == modseq):
        for uid, row in client.fetch(old, ["FLAGS"], changed).items():
            found.flags[uid] = Flags.of(row.get(b"FLAGS", ()))
    fetched: Any = client.fetch(new, ["FLAGS", _FIELD]) if new else {}
    for uid, row in fetched.items():
        content = next((row[key] for key in row if key.startswith(b"BODY[")), b"") or b""
        name = message_id_field(content).strip(b"<>").decode(errors="replace")
        found.flags[uid], found.names[uid] = Flags.of(row.get(b"FLAGS", ())), name
    return found


def store_keyword(
    folders: MailFolders, folder: str, uids: Iterable[int], name: str, to: bool
) -> bool:
    """Set, or remove, a keyword of messages of a folder; return whether the server does that."""
    request = _request(folders, folder, to)
    return unless_refused(request, sorted(uids), [name.encode()]) is not None


def store_flag(folders: MailFolders, folder: str, uids: Iterable[int], name: str, to: bool) -> None:
    r"""Set, or remove, a flag of messages of a folder."""
    _request(folders, folder, to)(sorted(uids), [name.encode()], silent=True)


def _request(folders: MailFolders, folder: str, to: bool) -> Callable[..., Any]:
    """Open a folder, and return what sets, or removes, flags of its messages."""
    folders.client.select_folder(folder)
    folders.selected = None
    return folders.client.add_flags if to else folders.client.remove_flags
