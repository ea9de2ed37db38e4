"""Tags, the same here and in a mailbox: those that can be keywords travel both ways.

    mailbox ─ keywords ─────┐                     ┌─> STORE ─┐
                            ├ merged with the base┤          ├─> the new base
    site ─ tags since then ─┘                     └─> tags ──┘

As flags do (``flag_sync``).  A tag that comes from a mailbox is its owner's alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from filters.reading.annotations.keywords import Named, keywords, tell
from filters.reading.annotations.outbox import KEPT
from filters.reading.models import OutboxAnnotation
from filters.sources.models import Source, SyncedFlags
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.deliver.imap.flag_changes import FolderFlags, merged, store_keyword
from tapestry.deliver.imap.folders import MailFolders
from tapestry.servers.imap_flags import permitted

MARGIN = 10 * MINUTE
"""How long it may take to store what is said: what was said so lately is looked at again."""


def merge_tags(
    source: Source,
    folders: MailFolders,
    folder: str,
    found: FolderFlags,
    rows: Collection[SyncedFlags],
    since: int,
) -> None:
    """Take over which tags have changed on either side: here since an instant, or there."""
    annotated = OutboxAnnotation.objects.filter(owner=source.owner_id, created__gte=since - MARGIN)
    recent = set(annotated.values_list("msgid", flat=True))
    if since - MARGIN < wall_clock() - KEPT:  # what was said then is in no outbox any more
        recent.update(row.msgid for row in rows)
    looked_at = [row for row in rows if _may_differ(row, found, recent)]
    tags = keywords(source.owner, {row.msgid for row in looked_at})
    there_to: dict[tuple[str, bool], list[SyncedFlags]] = defaultdict(list)
    here_to: list[tuple[str, str, bool]] = []
    after: dict[int, set[str]] = {}
    for row in looked_at:
        base, here, there = set(row.keywords or ()), tags[row.msgid], _there(row, found)
        after[row.pk] = set(base)
        for key in sorted(base | here.keys() | there.keys()):
            spelling = here.get(key) or there.get(key) or key
            if not permitted([spelling], found.permanent):
                continue
            value = merged(key in base, key in here, key in there)
            if value != (key in there):
                there_to[spelling, value].append(row)
            if value != (key in here):
                here_to.append((row.msgid, spelling, value))
            (after[row.pk].add if value else after[row.pk].discard)(key)
    for (spelling, value), changed in there_to.items():
        uids = [row.uid for row in changed]
        if not store_keyword(folders, folder, uids, spelling, value):
            for row in changed:  # it is as it was there: it is tried again as it changes
                (after[row.pk].discard if value else after[row.pk].add)(spelling.lower())
    for msgid, spelling, value in dict.fromkeys(here_to):
        tell(source.owner, msgid, source.audience, spelling, value)
    for row in looked_at:
        row.keywords = sorted(after[row.pk])
    SyncedFlags.objects.bulk_update(looked_at, ["keywords"], batch_size=100)


def _may_differ(row: SyncedFlags, found: FolderFlags, recent: Collection[str]) -> bool:
    if row.keywords is None or row.msgid in recent:
        return True
    return _there(row, found).keys() != set(row.keywords)


def _there(row: SyncedFlags, found: FolderFlags) -> Named:
    """Return the keywords of a message; those of the base where they have not changed."""
    flags = found.flags.get(row.uid)
    return {name.lower(): name for name in (flags.keywords if flags else row.keywords or ())}
