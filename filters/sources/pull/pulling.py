"""Pull one source: one process at a time, for a time slice; store and log the outcome."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import IntegrityError
from django.db.models import F, QuerySet

from filters.people import people
from filters.runs.models import SetAside
from filters.runs.store.filter_store import DjangoClock
from filters.site.work import set_aside
from filters.site.work.db.batching import batched
from filters.site.work.parts import services
from filters.sources.accounts.credentials import account_of
from filters.sources.both_ways.delivery_folders import delivery_parents
from filters.sources.models import Folder, Pull, Source
from filters.sources.pull.intake import SiteIntake
from filters.sources.pull.resources import pull_resources
from filters.sources.pull.sync_state import StoredSyncStates, stored_name
from filters.sources.schedule import account_lock
from tapestry.core.backoff import pause_after
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import is_disk_full
from tapestry.core.log import event
from tapestry.core.surroundings import is_unforeseen
from tapestry.ingest.ingest_batch import IngestTarget, Tally
from tapestry.ingest.pull import FolderReport, pull_account
from tapestry.servers.account import RefusedError
from tapestry.servers.quoted_reply import storable

SLICE = 20.0
"""Seconds of one pull; what remains waits for the next, so that other sources have their turn."""

LONGEST = 300.0
"""Seconds after which the connection of a pull is closed, though a message may be under way."""

MOST_PULLS = 200
"""Pulls of a source that are kept."""

IDENTITY = ("kind", "host", "port", "security", "path", "user", "audience")
"""The fields that a pull depends on; if one of them is edited meanwhile, the pull ends."""

PATIENCE_WHEN_REFUSED = 5
"""Failures that a refusal counts as: a server that refuses is not asked often."""


def pull(source: Source, seconds: float = SLICE) -> Tally | None:
    """Pull what is new for about ``seconds``; return its tally, None if another process pulls.

    Errors are stored for the page; what nobody foresaw is raised.
    """
    # Two machines that pull at once do the work twice, and append each message once.
    with account_lock(source) as acquired:
        if not acquired:
            return None
        work = _Work(source, wall_clock(), time.monotonic() + seconds)
        try:
            work.do()
        except (IntegrityError, Source.DoesNotExist):
            if Source.objects.filter(pk=source.pk).exists():
                raise
            event("source_deleted", source_id=source.pk)
        return work.tally


def pull_apart(source: Source) -> None:
    """Pull a source; if it raises an error, set it aside: its page says why, and until when.

    One that was edited meanwhile, or is due anew, is pulled as it is now.
    """
    try:
        if pull(source) is not None:
            set_aside.clear(SetAside.Kind.SOURCE, [source.pk])
    except Exception as error:
        aside = set_aside.record(SetAside.Kind.SOURCE, source.pk, error)
        _put_off(source, aside.try_again_at)
        _unchanged(source).update(failures=F("failures") + 1, error=aside.reason, hint="")


def _unchanged(source: Source) -> QuerySet[Source]:
    """Return the source, or none if its account or audience was edited."""
    identity = {name: getattr(source, name) for name in IDENTITY}
    return Source.objects.filter(pk=source.pk, **identity)


def _put_off(source: Source, due_at: int) -> None:
    """Have the source be due then; after an edit it is due when the edit said."""
    _unchanged(source).filter(due_at=source.due_at).update(due_at=due_at)


class _SourceIntake(SiteIntake):
    """Mail of a source, for a time slice, and as long as the source is what it was."""

    def __init__(self, source: Source, deadline: float) -> None:
        super().__init__()
        self._source, self._deadline = source, deadline

    def is_over(self) -> bool:
        return time.monotonic() >= self._deadline or _is_revoked(self._source)

    def is_forbidden(self) -> bool:
        return _is_revoked(self._source, hold=True)

    def note_append(self, ts: int) -> None:
        Source.objects.filter(pk=self._source.pk).update(appended_until=ts)
        super().note_append(ts)


def _is_revoked(source: Source, *, hold: bool = False) -> bool:
    """Return whether a source was paused, deleted or edited, or its owner lost the audience.

    ``hold`` locks the row, so that an edit waits for the end of the caller's transaction.
    """
    same = _unchanged(source).filter(active=True).select_related("owner")
    current = (same.select_for_update(of=("self",)) if hold else same).first()
    return current is None or not may_pull(current)


class _RevokedError(Exception):
    """The source was paused, deleted or edited while it was pulled."""


@dataclass(slots=True)
class _Work:
    source: Source
    started: int
    deadline: float
    tally: Tally = field(default_factory=Tally)
    complete: bool = True
    remaining: int = 0
    folders: int = 0
    errors: list[Exception] = field(default_factory=list)
    quiet: list[str] = field(default_factory=list)

    def do(self) -> None:
        began, error_class = time.perf_counter(), None
        try:
            self.run()
            self.succeed()
        except Exception as error:
            error_class = type(error).__name__
            if is_disk_full(error) and not isinstance(error, TapestryError):
                raise  # nothing can be stored, the error neither
            if is_unforeseen(error):
                raise
            if isinstance(error, TapestryError):
                self.fail(error)
                return
            self.fail(TapestryError(_sentence(error)))
            raise
        finally:
            event(
                "pull",
                source_id=self.source.pk,
                kind=self.source.kind,
                folders=self.folders,
                read=self.tally.read,
                added=self.tally.added,
                known=self.tally.duplicates,
                skipped=self.tally.skipped,
                refused_folders=len(self.errors),
                seconds=time.perf_counter() - began,
                error=error_class,
            )

    def run(self) -> None:
        source = self.source
        if not may_pull(source):
            raise RefusedError(
                f"{source.owner} may not bring mail for {source.audience} any more.",
                hint="Choose another audience, or ask an administrator for the permission.",
            )
        account = account_of(source)
        intake = _SourceIntake(source, self.deadline)
        if source.has_mail:
            reports = pull_account(
                account,
                source.folder_patterns,
                IngestTarget(services.tables(), DjangoClock(), source.audience, intake),
                StoredSyncStates.of(source),
                self._in_turn,
                hidden=delivery_parents(source),
                pause=self._pause,
                seconds=LONGEST,
            )
        else:
            reports = pull_resources(source, account, intake, self._in_turn, LONGEST)
        try:
            for report in reports:
                self._note(report)
        except _RevokedError:
            self.complete = False
        # What nobody foresaw in one folder is said when the others have had their turn.
        if unforeseen := next(filter(is_unforeseen, self.errors), None):
            self._note_quiet()
            raise unforeseen

    def succeed(self) -> None:
        """Store a success, with the first error of a folder if there is one."""
        self._note_quiet()
        now, due_at = wall_clock(), self.started  # what remains is due at once
        if self.complete and not self.remaining:
            due_at = now + self.source.every * SECOND
            if not self.errors:
                # Not if other folders were chosen meanwhile.
                same = _unchanged(self.source).filter(folder_patterns=self.source.folder_patterns)
                same.update(complete_until=self.started)
        self._end(next(iter(self.errors), None), due_at, failures=0, pulled_at=now)

    def fail(self, error: TapestryError) -> None:
        """Store the error, and schedule the next try with exponential backoff."""
        refused = PATIENCE_WHEN_REFUSED if isinstance(error, RefusedError) else 0
        if refused:
            # The access token may have been revoked: have it refreshed.
            _unchanged(self.source).update(access_token_until=0)
        failures = self.source.failures + (not is_disk_full(error))
        pause = max(self.source.every, pause_after(failures + refused))
        self._end(error, wall_clock() + int(pause * SECOND), failures=failures)
        self._note_quiet()

    def _pause(self, seconds: float) -> None:
        time.sleep(seconds)
        if _is_revoked(self.source):
            raise _RevokedError

    def _in_turn(self, folders: list[str]) -> list[str]:
        """Return the folders in the order in which they were last checked: each has its turn."""
        rows = Folder.objects.filter(source=self.source).values_list("name", "checked_at")
        checked = {name: at or 0 for name, at in rows}
        return sorted(folders, key=lambda folder: checked.get(stored_name(folder), 0))

    def _note(self, report: FolderReport) -> None:
        now = wall_clock()
        tally = report.tally
        self.tally += tally
        self.folders += 1
        self.complete = self.complete and (report.complete or report.error is not None)
        self.remaining = report.remaining
        if report.error is not None:
            self.errors.append(report.error)
        elif not tally.read:
            self.quiet.append(stored_name(report.folder))
            return
        folder, _made = Folder.objects.get_or_create(
            source=self.source, name=stored_name(report.folder)
        )
        total = None if report.complete else report.total
        changes: dict[str, Any] = {"checked_at": now, "error": _sentence(report.error)}
        changes |= {"reached": report.reached, "total": total}
        if tally.added:
            changes["added_at"] = now
        Folder.objects.filter(pk=folder.pk).update(
            read=F("read") + tally.read, added=F("added") + tally.added, **changes
        )

    def _note_quiet(self) -> None:
        """Store, in bulk, that these folders were checked and had nothing new."""
        now = wall_clock()
        for names in batched(self.quiet):
            same = Folder.objects.filter(source=self.source, name__in=names)
            same.update(checked_at=now, error="", total=None)
            new = set(names).difference(same.values_list("name", flat=True))
            Folder.objects.bulk_create(
                (Folder(source=self.source, name=name, checked_at=now) for name in sorted(new)),
                ignore_conflicts=True,
            )

    def _end(self, failure: Exception | None, due_at: int, **changes: Any) -> None:
        """Store the outcome; record the pull if it brought something, or failed otherwise."""
        source = self.source
        if not Source.objects.filter(pk=source.pk).exists():
            return
        error_before, error = source.error, _sentence(failure)
        hint = storable(getattr(failure, "hint", None) or "")
        _put_off(source, due_at)
        _unchanged(source).update(error=error, hint=hint, **changes)
        source.refresh_from_db()
        if self.tally.passed or (error and error != error_before):
            source.pulls.create(
                started_at=self.started, ended_at=wall_clock(), error=error, **asdict(self.tally)
            )
            old = source.pulls.values_list("pk", flat=True)[MOST_PULLS:]
            Pull.objects.filter(pk__in=list(old)).delete()


def may_pull(source: Source) -> bool:
    owner = source.owner
    return owner.is_active and source.audience in people.publishable(owner)


def _sentence(error: Exception | None) -> str:
    if error is None or isinstance(error, TapestryError):
        return storable(error.message) if error else ""
    return f"It failed ({type(error).__name__}); the log says why."
