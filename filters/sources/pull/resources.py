"""Pull address books and calendars: what their cards and events say becomes annotations.

collection ─ changes since its mark ─> cards, events ─> entries ─ not yet said ─> annotations
                                                           └──── said no more ──> retractions

Each resource is stored with the annotations that were made of it, in one transaction with these.
So what one source says no more is taken back, and nothing that another says, or its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from django.db.models import QuerySet

from filters.people import people
from filters.people.models import User
from filters.reading.address_book import MOST
from filters.reading.annotations.changes import locked
from filters.reading.annotations.outbox import annotate_all, take_back, waiting
from filters.reading.calendar import Entry
from filters.reading.tasks import append_annotations, append_soon
from filters.runs.models import Clock
from filters.site.work.db.batching import batched
from filters.site.work.db.deleting import delete_locked
from filters.sources.models import Folder, Source, SyncedResource
from filters.sources.pull.sync_state import stored_name
from tapestry.core.annotations import annotation_audience
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.contacts import CANCELLED, CONTACT, MEETING, book_of, calendar_of
from tapestry.core.errors import TapestryError
from tapestry.core.message import Annotation
from tapestry.core.ports import Intake
from tapestry.core.surroundings import is_unforeseen
from tapestry.ingest.dav import DavSession, open_dav
from tapestry.ingest.ingest_batch import Tally
from tapestry.ingest.pull import FolderReport
from tapestry.mime.icalendar_file import events_in
from tapestry.mime.vcards import addresses_in
from tapestry.servers.account import TIMEOUT, Account, ConnectionLostError

BATCH = 30
"""Resources that are asked for at once: cards may have pictures."""

AGAIN = 7 * DAY
"""After which a calendar is read anew: its events are written out for a year from then."""


def pull_resources(
    source: Source,
    account: Account,
    intake: Intake,
    order: Callable[[list[str]], list[str]],
    seconds: float,
) -> Iterator[FolderReport]:
    """Take over what has changed in each address book or calendar; yield a report after each.

    What was chosen before, or was there, is taken back.  At the end all that waits is appended:
    whoever hears then that the source is complete finds it.  Raise ConnectionLostError or
    RefusedError, in words; what came before stays.
    """
    with open_dav(account, TIMEOUT, seconds) as session:
        names = session.expand(source.folder_patterns)
        with locked(source.owner):
            if not intake.is_forbidden():
                gone = source.folders.exclude(name__in=set(names) & session.collections.keys())
                _drop(source, SyncedResource.objects.filter(folder__in=gone))
                gone.delete()
        for left, name in zip(range(len(names) - 1, -1, -1), order(names), strict=True):
            report = _Collection(session, source, name, intake).report()
            yield replace(report, remaining=left)
            if not report.complete or intake.is_over():
                break
    if waiting().filter(owner=source.owner).exists():
        append_annotations()
        Source.objects.filter(pk=source.pk).update(appended_until=Clock.instant())


def remove(source: Source) -> None:
    """Delete a source: what it said is taken back, and mail that came from it stays."""
    with locked(source.owner):
        _drop(source, SyncedResource.objects.filter(folder__source=source))
        delete_locked(Source.objects.filter(pk=source.pk))
    append_soon()


@dataclass(frozen=True, slots=True)
class _Collection:
    """An address book or calendar of a source, while it is pulled."""

    session: DavSession
    source: Source
    name: str
    intake: Intake
    tally: Tally = field(default_factory=Tally)

    def report(self) -> FolderReport:
        """Take over what has changed; an error is of this collection alone."""
        try:
            return FolderReport(self.name, self.tally, complete=self._is_complete())
        except ConnectionLostError:
            raise
        except Exception as error:
            if isinstance(error, TapestryError) or is_unforeseen(error):
                return FolderReport(self.name, self.tally, error)
            raise

    def _is_complete(self) -> bool:
        """Take over what has changed since the mark; return whether nothing is left over."""
        folder, owner = self._folder(), self.source.owner
        known = dict(folder.resources.values_list("href", "etag"))
        changes = self.session.changes(self.name, folder.mark, known)
        changed = [url for url, etag in changes.etags.items() if not etag or known.get(url) != etag]
        for urls in batched(sorted(changes.gone)):
            with locked(owner):
                if self.intake.is_forbidden():
                    return False
                _drop(self.source, folder.resources.filter(href__in=urls))
        rows = SyncedResource.objects.filter(folder__source=self.source)
        count = sum(map(len, rows.values_list("entries", flat=True)))
        for urls in batched(changed, BATCH):
            contents = list(self.session.contents(self.name, urls))
            with locked(owner):
                if self.intake.is_forbidden():
                    return False
                for url, etag, content in contents:
                    count += self._store(folder, url, etag or changes.etags[url], content)
                if count > MOST:
                    raise TapestryError(f"A source has at most {MOST:,} {self.source.content}.")
            if self.intake.is_over():
                return False
        Folder.objects.filter(pk=folder.pk).update(mark=changes.mark)
        return True

    def _folder(self) -> Folder:
        """Return the row of the collection; a calendar is read anew now and then."""
        name, now = stored_name(self.name), wall_clock()
        folder, _made = Folder.objects.get_or_create(source=self.source, name=name)
        if self.source.kind == Source.Kind.CALDAV and folder.read_anew_at < now - AGAIN:
            folder.resources.update(etag="")
            folder.mark, folder.read_anew_at = "", now
            folder.save(update_fields=["mark", "read_anew_at"])
        return folder

    def _store(self, folder: Folder, url: str, etag: str, content: bytes) -> int:
        """Store what a resource says; one that cannot be read says what it did before.

        Return how many entries more it has now.
        """
        row = folder.resources.filter(href=url).first() or SyncedResource(folder=folder, href=url)
        before: dict[Entry, str] = {tuple(entry): annid for annid, *entry in row.entries}
        try:
            entries = dict.fromkeys(_entries(self.source, content))
        except TapestryError:
            entries = dict.fromkeys(before)
            self.tally.broken += 1
        new = [entry for entry in entries if entry not in before]
        made = annotate_all(self.source.owner, _about(self.source), new)
        left = {entry: annid for entry, annid in before.items() if entry not in entries}
        _take_back(self.source, left)
        after = {entry: before[entry] for entry in entries if entry in before}
        after |= {entry: row.annid for entry, row in zip(new, made, strict=True)}
        row.etag, row.entries = etag, [[annid, *entry] for entry, annid in after.items()]
        row.save()
        self.tally.read += 1
        self.tally.added += bool(new)
        self.tally.duplicates += after == before
        return len(after) - len(before)


def _entries(source: Source, content: bytes) -> list[Entry]:
    """Return what a card or an event says; raise TapestryError if it is broken."""
    if source.kind == Source.Kind.CARDDAV:
        return [(CONTACT, address, None) for address in addresses_in(content)]
    owner = source.owner
    events = events_in(content, wall_clock(), owner.zone, people.addresses(owner))
    if events.unread:
        raise TapestryError("The event cannot be read.")
    meetings: list[Entry] = [(MEETING, met.address, met.starts) for met in events.meetings]
    return [*meetings, *((CANCELLED, uid, None) for uid in events.cancelled)]


def _drop(source: Source, rows: QuerySet[SyncedResource]) -> None:
    """Take back what resources say, and forget them."""
    for entries in rows.values_list("entries", flat=True):
        _take_back(source, {tuple(entry): annid for annid, *entry in entries})
    rows.delete()


def _take_back(source: Source, entries: dict[Entry, str]) -> None:
    """Take back what a source said, except meetings that have begun: these stay as they were."""
    owner: User = source.owner
    about, name, now = _about(source), owner.get_username(), wall_clock()
    audience = annotation_audience("", name, private=True)
    take_back(
        owner,
        [
            Annotation(annid, about, name, kind, value, None, audience, starts)
            for (kind, value, starts), annid in entries.items()
            if starts is None or starts > now
        ],
    )


def _about(source: Source) -> str:
    book = book_of if source.kind == Source.Kind.CARDDAV else calendar_of
    return book(source.owner.get_username())
