"""Which message is at a place of a mailbox, where several have its Message-ID.

Anybody can send other words under a known Message-ID (tapestry.identity.content): what says the
same is that message, and what does not is another, with a key and flags of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from filters.site.work.db.batching import batched
from filters.site.work.parts import services
from filters.sources.models import Source, SyncedFlags
from tapestry.core.schema import MESSAGES
from tapestry.deliver.imap.flag_changes import FolderFlags
from tapestry.deliver.imap.folders import MailFolders
from tapestry.identity.content import content_hash, copy_key
from tapestry.identity.other_parts import other_parts
from tapestry.ingest.parse import parse
from tapestry.tables.read.messages import lookup, same_message_id
from tapestry.tables.read.originals import kept_original

MOST = 50
"""Messages that are read in one turn to compare them; the others are looked at in the next."""

Place = tuple[str, int]
"""A folder and a UID."""


def keys_of(
    source: Source, folders: MailFolders, found: Mapping[str, FolderFlags]
) -> dict[Place, str]:
    """Return the keys of the new messages in folders that were looked at, in their order."""
    new = {
        (folder, uid): name
        for folder, flags in found.items()
        for uid, name in sorted(flags.names.items())
        if name
    }
    shared = _shared(source, found, new.values())
    columns = ("msgid",)
    known = lookup(services.tables(), MESSAGES, "msgid", shared, [source.audience], columns)
    first = {row["msgid"] for row in known}
    compared = [place for place, name in new.items() if name in first][:MOST]
    keys = {place: name for place, name in new.items() if name not in shared}
    return keys | {place: _key(source, folders, place, new[place]) for place in compared}


def _shared(
    source: Source, found: Mapping[str, FolderFlags], names: Collection[str]
) -> Collection[str]:
    """Return the Message-IDs that several messages have, here or in the mailbox."""
    counts = Counter(names)
    rows = SyncedFlags.objects.filter(source=source, folder__in=found)
    for batch in batched(sorted(counts)):
        known = rows.filter(msgid__in=batch)
        for folder, uid, name in known.values_list("folder", "uid", "msgid"):
            counts[name] += uid in found[folder].uids and uid not in found[folder].names
    others = same_message_id(services.tables(), counts, [source.audience])
    return others.keys() | {name for name, count in counts.items() if count > 1}


def _key(source: Source, folders: MailFolders, place: Place, name: str) -> str:
    """Return the key of a message by what it says; empty if it is gone.

    It is taken for the first of its Message-ID where nobody can tell what that said.
    """
    folder, uid = place
    folders.client.select_folder(folder, readonly=True)
    folders.selected = None
    fetched: Any = folders.client.fetch([uid], ["BODY.PEEK[]"])
    raw = fetched.get(uid, {}).get(b"BODY[]")
    first = kept_original(services.tables(), name, source.audience)
    if not raw:
        return ""
    says = _hash(raw)
    return name if first is None or says == _hash(first.raw) else copy_key(name, says)


def _hash(raw: bytes) -> str:
    message = parse(raw).message
    others = other_parts(raw, message.body)
    return content_hash(message.sender, message.subject, message.body, others)
