r"""Read, starred and tags, the same here and in a mailbox: flags and keywords travel both ways.

    mailbox ─ changed since? ─┐                     ┌─> STORE ─┐
                              ├ merged with the base┤          ├─> the new base
    site ──── read, starred ──┘                     └─> a step ┘

The base is what was last the same on both sides.  Whoever differs from it has changed something,
and that is taken over (a three-way merge); of a yes and a no, both cannot change to different
values.  It goes with a message to another folder, or another UID.  That a filter finds what was
read there changes nothing there.  The base is stored last, so a try that was killed is made again,
and changes nothing twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from filters.inbox.models import Card, FormerMatch, Match, MessageState
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target, act
from filters.site.work.parts import services
from filters.sources.both_ways.shared_ids import Place, keys_of
from filters.sources.both_ways.tag_sync import merge_tags
from filters.sources.models import Source, SyncedFlags
from tapestry.core.clock import wall_clock
from tapestry.core.schema import MESSAGES
from tapestry.deliver.imap.acts import FLAGGED, SEEN
from tapestry.deliver.imap.flag_changes import Flags, FolderFlags, merged, read_flags, store_flag
from tapestry.deliver.imap.folders import MailFolders
from tapestry.tables.read.messages import lookup

_ACTIONS = {
    ("seen", True): "read",
    ("seen", False): "unread",
    ("flagged", True): "star",
    ("flagged", False): "unstar",
}

_BASE = ("is_seen", "is_flagged", "keywords")

_NEVER = (0, 0, 0)
"""The state of a folder that was never looked at."""


def synchronise(source: Source, folders: MailFolders) -> None:
    """Take over what has changed, of the newest messages of each folder, on either side."""
    state: dict[str, list[int]] = dict(source.flags_state)
    now, found = wall_clock(), dict(_read(source, folders, state))
    _learn(source, found, keys_of(source, folders, found), state)
    since = min((state.get(folder, _NEVER)[2] for folder in found), default=now)
    for folder, flags in found.items():
        rows = list(SyncedFlags.objects.filter(source=source, folder=folder))
        _merge(source, folders, folder, flags, rows)
        merge_tags(source, folders, folder, flags, rows, since)
        state[folder] = [flags.uidvalidity, flags.modseq, now]
        Source.objects.filter(pk=source.pk).update(flags_state=state)


def _read(
    source: Source, folders: MailFolders, state: Mapping[str, list[int]]
) -> Iterator[tuple[str, FolderFlags]]:
    for folder in source.folder_patterns:
        uidvalidity, modseq, _ = state.get(folder, _NEVER)
        rows = SyncedFlags.objects.filter(source=source, folder=folder)
        known = set(rows.values_list("uid", flat=True))
        flags = read_flags(folders, folder, known, uidvalidity, modseq)
        if flags is not None:
            yield folder, flags


def _learn(
    source: Source,
    found: Mapping[str, FolderFlags],
    keys: Mapping[Place, str],
    state: dict[str, list[int]],
) -> None:
    """Store which of the new messages of folders are here, by their keys.

    One that has left another folder, or has another UID now, keeps its base.
    """
    columns, msgids = ("msgid", "source"), set(keys.values())
    stored = lookup(services.tables(), MESSAGES, "msgid", msgids, [source.audience], columns)
    address = f"{source.address}/"
    here = {row["msgid"] for row in stored if (row["source"] or "").startswith(address)}
    bases: dict[str, Mapping[str, Any]] = {}
    with transaction.atomic():
        for folder, flags in found.items():
            uidvalidity, _, looked_at = state.get(folder, _NEVER)
            gone = SyncedFlags.objects.filter(source=source, folder=folder)
            if flags.uidvalidity == uidvalidity:
                gone = gone.exclude(uid__in=flags.uids)
            else:
                state[folder] = [flags.uidvalidity, 0, looked_at]
            bases |= {row.pop("msgid"): row for row in gone.values("msgid", *_BASE)}
            gone.delete()
        new = [
            SyncedFlags(source=source, folder=folder, uid=uid, msgid=name, **bases.get(name, {}))
            for (folder, uid), name in keys.items()
            # What is not here yet is asked for again: it may be on its way.
            if name in here
        ]
        SyncedFlags.objects.bulk_create(new, ignore_conflicts=True, batch_size=100)
        Source.objects.filter(pk=source.pk).update(flags_state=state)


@dataclass(slots=True)
class _Here:
    """What messages are to their owner here; what no filter has found is neither read nor not.

    ``fresh``: unread, for filters have found them since, and not because their owner made them so.
    """

    read: Mapping[str, bool]
    fresh: Collection[str]
    starred: Collection[str]
    targets: Mapping[str, Target]

    def flags(self, row: SyncedFlags) -> Flags:
        is_of_filters = row.msgid in self.fresh and row.is_seen
        seen = row.is_seen if is_of_filters else self.read.get(row.msgid, row.is_seen)
        return Flags(seen, row.msgid in self.starred)


def _here(source: Source, msgids: Collection[str]) -> _Here:
    matches = Match.objects.filter(
        filter__owner=source.owner_id, msgid__in=msgids, retracted_at=None, card__isnull=False
    )
    read: dict[str, bool] = {}
    unread: dict[int, str] = {}
    for key, msgid, read_at in matches.order_by("pk").values_list("pk", "msgid", "read_at"):
        read[msgid] = read.get(msgid, True) and read_at is not None
        if read_at is None:
            unread[key] = msgid
    former = FormerMatch.objects.filter(match__in=unread).order_by("pk")
    last = {row[0]: row[1:] for row in former.values_list("match", "read_at", "retracted_at")}
    by_hand = {unread[key] for key, (at, left) in last.items() if at is not None and left is None}
    states = MessageState.objects.filter(owner=source.owner_id, msgid__in=msgids)
    for msgid in states.filter(snoozed_until__gt=wall_clock()).values_list("msgid", flat=True):
        read.pop(msgid, None)  # it is unread here until it is back
    starred = states.filter(starred_at__isnull=False).values_list("msgid", flat=True)
    cards = Card.objects.filter(msgid__in=msgids, audience=source.audience)
    targets = {row[0]: Target(*row) for row in cards.values_list("msgid", "audience", "root")}
    return _Here(read, {*unread.values()} - by_hand, set(starred), targets)


def _merge(
    source: Source,
    folders: MailFolders,
    folder: str,
    found: FolderFlags,
    rows: list[SyncedFlags],
) -> None:
    here = _here(source, {row.msgid for row in rows})
    there_to: dict[tuple[str, bool], list[int]] = defaultdict(list)
    here_to: dict[tuple[str, bool], list[str]] = defaultdict(list)
    changed: list[SyncedFlags] = []
    for row in rows:
        if row.msgid not in here.targets:
            continue  # it has no card here: it can be neither read nor starred
        base = Flags(row.is_seen, row.is_flagged)
        ours, theirs = here.flags(row), found.flags.get(row.uid, base)
        for name in ("seen", "flagged"):
            mine, other = getattr(ours, name), getattr(theirs, name)
            value = merged(getattr(base, name), mine, other)
            if value != other:
                there_to[name, value].append(row.uid)
            if value != mine and (name != "seen" or row.msgid in here.read):
                here_to[name, value].append(row.msgid)
            setattr(row, f"is_{name}", value)
        if base != Flags(row.is_seen, row.is_flagged):
            changed.append(row)
    for (name, value), uids in there_to.items():
        store_flag(folders, folder, uids, SEEN if name == "seen" else FLAGGED, value)
    for key, msgids in here_to.items():
        act(source.owner, ACTIONS[_ACTIONS[key]], _targets(here, msgids))
    SyncedFlags.objects.bulk_update(changed, ["is_seen", "is_flagged"], batch_size=100)


def _targets(here: _Here, msgids: Iterable[str]) -> list[Target]:
    return [here.targets[msgid] for msgid in dict.fromkeys(msgids)]
