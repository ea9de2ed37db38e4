"""What filters do in their owners' mailboxes: an outbox, served one mailbox at a time.

    match stored ─> MailboxAct ─ placed ─> its source ─ located ─> place stored ─ done ─> ended_at

A place is stored before anything is done there, and each step can be done again (idempotent): a
kill in between does nothing twice.  Whoever serves a mailbox holds the lock of a file, which ends
with the process (a lease).  A wish that changes meanwhile has another revision (a fence).
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace

from django.db.models import F, Q, QuerySet

from filters.site.work.parts import services
from filters.sources.accounts.credentials import account_of
from filters.sources.both_ways.flag_sync import synchronise
from filters.sources.models import MailboxAct, Source
from tapestry.core.backoff import LONGEST as LONGEST_PAUSE
from tapestry.core.backoff import pause_after
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.site_lock import site_lock
from tapestry.core.log import event
from tapestry.core.schema import MESSAGES
from tapestry.core.surroundings import is_of_surroundings, is_unforeseen
from tapestry.deliver.imap.acts import ActingMailbox, NotDoneError, Place, flags_of
from tapestry.deliver.imap.message_identity import MessageIdentity
from tapestry.identity.content import is_copy
from tapestry.servers.imap import connected, explained
from tapestry.tables.read.messages import lookup
from tapestry.tables.read.originals import kept_original

log = logging.getLogger(__name__)

LONGEST = 60.0
"""Seconds of one turn of a mailbox; then its connection is closed."""

MOST = 200
"""Messages of one turn."""

FLAGS_EVERY = MINUTE
"""How often flags are looked at, here and there."""

MOST_OF_ONE = 2
"""Mailboxes of one person that are served in one round: slow servers hold up no other's."""

ELSEWHERE = "It did not come from a mailbox in which your filters may act."
NOT_FOUND = "It was not found where it came from: you have moved or deleted it."
NO_TRASH = "The server does not say which folder is Trash. Have the filter move it to one by name."
FAILED_HERE = "It failed here; the worker’s log says why."


def waiting() -> QuerySet[MailboxAct]:
    """Return what is still to be done, or undone."""
    return MailboxAct.objects.filter(ended_at=None).order_by("pk")


def due() -> list[int]:
    """Return the keys of the sources in which something waits whose time has come."""
    place()
    _rest()
    now = wall_clock()
    # What waits for longer than anything does is due: the clock was set back.
    is_due = Q(acts_due_at__lte=now) | Q(acts_due_at__gt=now + 2 * SECOND * LONGEST_PAUSE)
    is_seen = Q(flags_due_at__gt=now, flags_due_at__lte=now + 2 * FLAGS_EVERY)
    acts = Q(may_act=True, pk__in=waiting().order_by().values("source"))
    looks = Q(syncs_flags=True) & ~is_seen
    sources = Source.objects.filter(is_due, acts | looks, kind=Source.Kind.IMAP)
    allowed = sources.filter(active=True, owner__is_active=True)
    of_owner: dict[int, list[int]] = defaultdict(list)
    for key, owner in allowed.order_by("acts_due_at", "pk").values_list("pk", "owner"):
        of_owner[owner].append(key)
    return [key for keys in of_owner.values() for key in keys[:MOST_OF_ONE]]


def place() -> None:
    """Look up from which source, and which folder of it, messages came that wait.

    What came from no mailbox in which filters of its owner may act is at its end.
    """
    rows: dict[int, list[MailboxAct]] = defaultdict(list)
    for row in waiting().filter(source=None)[:MOST]:
        rows[row.owner_id].append(row)
    for owner, acts in rows.items():
        found = _origins(owner, {row.msgid for row in acts})
        for row in acts:
            if row.msgid in found:
                source, folder = found[row.msgid]
                _save(row, source=source, folder=folder)
            else:
                _save(row, ended_at=wall_clock(), outcome=ELSEWHERE)


def _rest() -> None:
    """Have what waits for a mailbox that is paused be at its end, until the mailbox is not.

    What is at its end of a filter that was deleted is forgotten.
    """
    paused = waiting().filter(Q(source__active=False) | Q(source__may_act=False))
    paused.order_by().update(ended_at=wall_clock(), outcome=MailboxAct.PAUSED)
    goes_on = Q(ended_at=None) | Q(source__isnull=False, outcome=MailboxAct.PAUSED)
    MailboxAct.objects.filter(filter=None).exclude(goes_on).delete()


def go_on(source: Source) -> None:
    """Have what a mailbox left undone, as it was paused, wait again."""
    MailboxAct.objects.filter(source=source, outcome=MailboxAct.PAUSED).update(
        ended_at=None, outcome=""
    )


def locate_anew(source: Source) -> None:
    """Have what waits for a mailbox be looked for by its Message-ID: it may be another mailbox."""
    goes_on = Q(ended_at=None) | Q(outcome=MailboxAct.PAUSED)
    for row in MailboxAct.objects.filter(goes_on, source=source).exclude(place={}):
        changed = {"place": {**row.place, "uid": 0}, "revision": row.revision + 1}
        MailboxAct.objects.filter(pk=row.pk, revision=row.revision).update(**changed)


def _origins(owner: int, msgids: Iterable[str]) -> dict[str, tuple[Source, str]]:
    """Return the source of each message, and its folder, as far as its owner's filters may act."""
    sources = Source.objects.filter(owner=owner, kind=Source.Kind.IMAP, may_act=True)
    by_place = {(source.audience, f"{source.address}/"): source for source in sources}
    if not by_place:
        return {}
    audiences = {audience for audience, _ in by_place}
    columns = ("msgid", "audience", "source")
    found: dict[str, tuple[Source, str]] = {}
    for row in lookup(services.tables(), MESSAGES, "msgid", msgids, audiences, columns):
        for (audience, address), source in by_place.items():
            name = row["source"] or ""
            if row["audience"] == audience and name.startswith(address):
                found[row["msgid"]] = (source, name.removeprefix(address))
    return found


def act_in(source: Source) -> int:
    """Do in a mailbox what waits; return how much was done.  A failure costs only this source."""
    with _lock(source) as is_free:
        if not is_free:
            return 0
        done = 0
        try:
            done = _act_in(source)
        except TapestryError as error:
            _put_off(source, error.message)
        except Exception as error:
            _put_off(source, FAILED_HERE)
            if is_of_surroundings(error):
                raise
            log.exception("acts in source %s", source.pk)
        else:
            Source.objects.filter(pk=source.pk).update(acts_failures=0, acts_error="")
        return done


def _lock(source: Source) -> AbstractContextManager[bool]:
    return site_lock(services.data() / "run" / f"acting-{source.pk}.lock")


def _put_off(source: Source, sentence: str) -> None:
    pause = int(pause_after(source.acts_failures + 1) * SECOND)
    Source.objects.filter(pk=source.pk).update(
        acts_failures=F("acts_failures") + 1, acts_error=sentence, acts_due_at=wall_clock() + pause
    )


def _act_in(source: Source) -> int:
    rows = list(waiting().filter(source=source).select_related("filter")[:MOST])
    rows = rows if source.may_act else []
    if not rows and not source.syncs_flags:
        return 0
    account, end, done = account_of(source), time.monotonic() + LONGEST / 2, 0
    with connected(account, seconds=LONGEST) as client, explained(account):
        desk = _Desk(source, ActingMailbox.of(account, client))
        for row in rows:
            if time.monotonic() > end or not _may_act(source):
                break
            desk.serve(row)
            done += 1
        if source.syncs_flags:
            synchronise(source, desk.mailbox.folders)
            later = wall_clock() + FLAGS_EVERY
            Source.objects.filter(pk=source.pk).update(flags_due_at=later)
    event("acted_in_mailbox", source_id=source.pk, messages=done)
    return done


def _may_act(source: Source) -> bool:
    same = Source.objects.filter(pk=source.pk, may_act=True, active=True, owner__is_active=True)
    return same.exists()


@dataclass(frozen=True, slots=True)
class _Desk:
    """A mailbox that is open, and the messages that wait in it."""

    source: Source
    mailbox: ActingMailbox

    def serve(self, row: MailboxAct) -> None:
        """Do, or undo, what is wished for one message, and store what became of that."""
        outcome = ""
        try:
            raw = _raw(row.msgid, self.source.audience)
            identity = _identity(row.msgid, raw)
            if identity is None:
                raise NotDoneError("It has no Message-ID, and its original is not stored.")
            if row.wish == MailboxAct.Wish.DO:
                self._do(row, identity, raw)
            elif row.place:
                self._undo(row, identity, raw)
        except _ChangedError:
            return
        except NotDoneError as error:
            outcome = error.message
        except Exception as error:
            if is_of_surroundings(error) or not is_unforeseen(error):
                raise
            outcome = FAILED_HERE
            log.exception("acts with %s", row.pk)
        if _save(row, ended_at=wall_clock(), outcome=outcome) and row.filter is None:
            row.delete()

    def _do(self, row: MailboxAct, identity: MessageIdentity, raw: bytes) -> None:
        assert row.filter is not None, "what is to be done is gone with its filter"
        acts, before = row.acts.split(), _place_of(row)
        flags = flags_of(acts, row.filter.acts_keyword)
        at = before
        if at is None or not at.uid:
            at = self._located(row, identity, raw, flags, before)
            if not _save(row, place={**asdict(at), "flags": list(flags)}):
                raise _ChangedError
        self.mailbox.do(at, identity, raw, flags)
        if "trash" in acts and not at.target:
            raise NotDoneError(NO_TRASH)

    def _located(
        self,
        row: MailboxAct,
        identity: MessageIdentity,
        raw: bytes,
        flags: Sequence[str],
        before: Place | None,
    ) -> Place:
        """Return where a message is; raise NotDoneError if it is nowhere where it could be."""
        found = self.mailbox.locate(identity, raw, self._places(row), flags)
        if found is None:
            raise NotDoneError(NOT_FOUND)
        target = self._target(row)
        if before is None:
            return replace(found, target=target)
        ours = set(row.place["flags"]) - set(before.had)
        had = tuple(flag for flag in found.had if flag not in ours)
        return replace(found, target=target, home=before.home, had=had)

    def _places(self, row: MailboxAct) -> list[str]:
        """Return the folders in which a message may be: whereto it was moved, and where it came."""
        same = MailboxAct.objects.filter(owner=row.owner_id, msgid=row.msgid, source=self.source)
        others = same.exclude(pk=row.pk).exclude(place={}).values_list("place", flat=True)
        known = [row.place] if row.place else []
        known += others
        came = "INBOX" if row.folder.upper() == "INBOX" else row.folder
        named = [at[name] for name in ("target", "folder", "home") for at in known]
        return list(dict.fromkeys(filter(None, [*named, came])))

    def _target(self, row: MailboxAct) -> str:
        acts = row.acts.split()
        if "trash" in acts:
            return self.mailbox.trash
        folder = "" if row.filter is None else row.filter.acts_folder
        return self.mailbox.full_name(folder) if "move" in acts and folder else ""

    def _undo(self, row: MailboxAct, identity: MessageIdentity, raw: bytes) -> None:
        at = _place_of(row)
        assert at is not None
        if not _save(row, place={**row.place, "uid": 0}):
            raise _ChangedError
        flags = set(row.place["flags"]) - set(at.had)
        for other in self._others(row):
            kept = flags & set(other.place["flags"])
            flags -= kept
            # What this one set is the other's from now on: that one takes it away as it lets go.
            had = [flag for flag in other.place["had"] if flag not in kept]
            _save(other, place={**other.place, "had": had})
        self.mailbox.undo(at, identity, raw, self._places(row), sorted(flags))

    def _others(self, row: MailboxAct) -> list[MailboxAct]:
        """Return what other filters have done with the same message, and is to stay."""
        same = MailboxAct.objects.filter(owner=row.owner_id, msgid=row.msgid, source=self.source)
        standing = same.filter(wish=MailboxAct.Wish.DO).exclude(pk=row.pk).exclude(place={})
        return list(standing)


class _ChangedError(Exception):
    """The wish has changed while it was served."""


def _save(row: MailboxAct, **changes: object) -> bool:
    """Store changes, unless the wish has changed since it was read; return whether it has not."""
    for name, value in changes.items():
        setattr(row, name, value)
    same = MailboxAct.objects.filter(pk=row.pk, revision=row.revision)
    return same.update(**changes) == 1


def _place_of(row: MailboxAct) -> Place | None:
    if not row.place:
        return None
    at = {name: value for name, value in row.place.items() if name != "flags"}
    return Place(**at | {"had": tuple(at["had"])})


def _raw(msgid: str, audience: str) -> bytes:
    """Return the bytes of a message, none if they are not stored."""
    stored = kept_original(services.tables(), msgid, audience)
    return stored.raw if stored else b""


def _identity(msgid: str, raw: bytes) -> MessageIdentity | None:
    """Return how a message is known: by its bytes if another has its Message-ID, or it has none."""
    if not raw:
        return None if is_copy(msgid) else MessageIdentity.of_msgid(msgid)
    return MessageIdentity.of_bytes(raw) if is_copy(msgid) else MessageIdentity.of(raw)
