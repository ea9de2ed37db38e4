"""Tags, the same here and in a mailbox: those that can be keywords travel both ways.

    mailbox ─ keywords ─────┐                     ┌─> STORE ─┐
                            ├ merged with the base┤          ├─> the new base
    site ─ tags since then ─┘                     └─> tags ──┘

As flags do (filters.sources.both_ways.flag_sync).  Keywords are told apart by their letters alone,
not by whether these are capitals.  A tag that comes from a mailbox is its owner's alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from filters.people import people
from filters.people.models import User
from filters.reading.annotations.opinions import keep
from filters.reading.models import OutboxAnnotation
from filters.site.work.parts import services
from filters.sources.models import Source, SyncedFlags
from tapestry.core.annotations import standing
from tapestry.core.clock import MINUTE
from tapestry.core.message import Annotation
from tapestry.deliver.imap.flag_changes import FolderFlags, merged, store_keyword
from tapestry.deliver.imap.folders import MailFolders
from tapestry.servers.imap_flags import is_tag, permitted
from tapestry.tables.read.messages import annotations_on

MARGIN = 10 * MINUTE
"""How long it may take to store what is said: what was said so lately is looked at again."""

Named = dict[str, str]
"""Keywords, or tags, by themselves in small letters."""


def merge_tags(
    source: Source,
    folders: MailFolders,
    folder: str,
    found: FolderFlags,
    rows: Iterable[SyncedFlags],
    since: int,
) -> None:
    """Take over which tags have changed on either side: here since an instant, or there."""
    annotated = OutboxAnnotation.objects.filter(owner=source.owner_id, created__gte=since - MARGIN)
    recent = set(annotated.values_list("msgid", flat=True))
    looked_at = [row for row in rows if _may_differ(row, found, recent)]
    tags = _tags_of(source.owner, {row.msgid for row in looked_at})
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
        _tell(source, msgid, spelling, value)
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


def _tags_of(owner: User, msgids: Collection[str]) -> dict[str, Named]:
    """Return the tags that a person gave to messages, of those that can be keywords."""
    audiences, name = people.audiences(owner), owner.get_username()
    waiting = OutboxAnnotation.objects.filter(owner=owner, msgid__in=msgids, appended_at=None)
    late = [row.as_annotation() for row in waiting.select_related("owner").order_by("pk")]
    annotations: dict[str, list[Annotation]] = defaultdict(list)
    rows = annotations_on(services.tables(), msgids, audiences) if msgids else []
    for annotation in [*(row.annotation for row in rows), *late]:
        if annotation.owner == name:
            annotations[annotation.msgid].append(annotation)
    return {
        msgid: {
            row.value.lower(): row.value
            for row in standing(annotations[msgid])
            if row.kind == "tag" and row.value and is_tag(row.value)
        }
        for msgid in msgids
    }


def _tell(source: Source, msgid: str, tag: str, to: bool) -> None:
    """Have a person tag a message, for themselves, or take that back."""
    given = {"kind": "tag", "number": None, "private": True}
    given |= {"value": tag, "take_back": ""} if to else {"value": "", "take_back": tag}
    keep(source.owner, msgid, source.audience, given)
