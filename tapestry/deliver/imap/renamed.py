r"""Folders that their owner has renamed on the server: known again by UIDVALIDITY and by our mail.

A folder keeps its UIDVALIDITY (RFC 3501, section 2.3.1.1) when it is renamed, and its messages keep
the keyword of our deliveries.  It is followed if no other folder of the mailbox has its UIDVALIDITY
and it has a message with the keyword, or none; in the \Trash it is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tapestry.deliver.imap.folders import MailFolders
from tapestry.servers.imap import DELIVERED_KEYWORD, UNREADABLE, listed_folders, unless_refused

_DISCARDED = frozenset({rb"\trash", rb"\junk"})
_DISCARDED_NAMES = frozenset({"trash", "junk", "spam", "deleted messages", "deleted items"})


class Place(NamedTuple):
    """The full name of a folder, and its UIDVALIDITY."""

    folder: str
    uidvalidity: int


def follow(folders: MailFolders, places: Mapping[str, Place]) -> dict[str, str]:
    """Have what is delivered for filters, by their names, go where their folders are by now.

    Return the former folders of those that are gone, or cannot be known again.
    """
    elsewhere = {name: at for name, at in places.items() if folders.existing_below(name) is None}
    folders.moved |= {
        name: at.folder for name, at in elsewhere.items() if at.folder in folders.existing
    }
    gone = {name: at for name, at in elsewhere.items() if name not in folders.moved}
    if not gone:
        return {}
    listed = listed_folders(folders.client)
    readable = {name for flags, name in listed if not flags & UNREADABLE}
    discarded = [name for flags, name in listed if _is_discarded(folders, flags, name)]
    eligible = {
        name
        for name in readable
        if name.upper() != "INBOX"
        and not any(folders.hierarchy.is_within(name, other) for other in discarded)
    }
    validities: dict[str, int] = {}
    lost: dict[str, str] = {}
    for filter_name, place in gone.items():
        found: str | None = place.folder if place.folder in eligible else None
        if found is None:
            validities = validities or {name: _uidvalidity(folders, name) for name in readable}
            same = [name for name, number in validities.items() if number == place.uidvalidity]
            if len(same) == 1 and same[0] in eligible and _has_our_mail(folders, same[0]):
                found = same[0]
        if found is None:
            lost[filter_name] = place.folder
        else:
            folders.moved[filter_name] = found
            within = {name for name in readable if folders.hierarchy.is_within(name, found)}
            folders.existing |= within
    return lost


def place_of(folders: MailFolders, filter_name: str) -> Place | None:
    """Return where the folder of a filter is, None if it was not opened."""
    folder = folders.existing_below(filter_name)
    uidvalidity = folders.validities.get(folder or "")
    return Place(folder, uidvalidity) if folder and uidvalidity else None


def _is_discarded(folders: MailFolders, flags: frozenset[bytes], name: str) -> bool:
    bare = name.removeprefix(folders.hierarchy.prefix)
    return bool(flags & _DISCARDED) or bare.lower() in _DISCARDED_NAMES


def _uidvalidity(folders: MailFolders, name: str) -> int:
    status = unless_refused(folders.client.folder_status, name, ["UIDVALIDITY"]) or {}
    return int(status.get(b"UIDVALIDITY", 0))


def _has_our_mail(folders: MailFolders, name: str) -> bool:
    folders.select(name)
    return (
        bool(folders.client.search(["KEYWORD", DELIVERED_KEYWORD])) or not folders.client.search()
    )
