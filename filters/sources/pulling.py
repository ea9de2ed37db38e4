"""Pull one source: alone, for a while, and write down how it went."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import IntegrityError
from django.db.models import F, QuerySet

from filters.accounts import people
from filters.models.source import Folder, Pull, Source
from filters.runtime import services
from filters.runtime.batching import batched
from filters.sources.credentials import account_of
from filters.sources.lock import source_lock
from filters.sources.sync_state import StoredSyncStates, stored_name
from filters.store.filter_store import DjangoClock
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.ingest.account import RefusedError
from tapestry.ingest.backoff import pause_after
from tapestry.ingest.ingest_batch import IngestTarget, Tally
from tapestry.ingest.pull import FolderReport, pull_account
from tapestry.ingest.quoted_reply import storable

log = logging.getLogger(__name__)

SLICE = 20.0
"""Seconds after which a pull leaves the rest for its next turn, so that others have theirs."""

KEPT = 200
"""How many of its pulls a source remembers."""

WHOSE = ("kind", "host", "port", "security", "user", "audience")
"""What a pull goes by; where one of these is changed meanwhile, it is over."""

PATIENCE_WHEN_REFUSED = 5
"""A refusal counts as that many failures at once: asking often would only annoy."""


def pull(source: Source, seconds: float = SLICE) -> Tally | None:
    """Pull what is new, for about so long; return what came, None if another process is at it.

    What goes wrong is written down for the page.  Raised is only what nobody foresaw, and that
    is written down too.
    """
    # On several machines an overlap costs work, but no correctness: each message is appended once.
    with source_lock(source, "source") as acquired:
        if not acquired:
            return None
        work = _Work(source, wall_clock(), time.monotonic() + seconds)
        try:
            work.do()
        except (IntegrityError, Source.DoesNotExist):
            if Source.objects.filter(pk=source.pk).exists():
                raise
            log.info("%s was deleted while it was pulled.", source)
        return work.tally


class _OverError(Exception):
    """What is being pulled is no more to be, or not for this audience."""


@dataclass(slots=True)
class _Work:
    source: Source
    started: int
    deadline: float
    tally: Tally = field(default_factory=Tally)
    whole: bool = True
    left: int = 0
    errors: list[TapestryError] = field(default_factory=list)
    quiet: list[str] = field(default_factory=list)

    def do(self) -> None:
        """Pull, and write down how it went, whatever happens."""
        try:
            self.run()
            self.succeed()
        except TapestryError as error:
            self.fail(error)
        except Exception as error:
            self.fail(TapestryError(f"It failed ({type(error).__name__}); the log says why."))
            raise

    def run(self) -> None:
        source = self.source
        if not may_pull(source):
            raise RefusedError(
                f"{source.owner} may not put mail there any more ({source.audience}).",
                hint="Choose another audience.",
            )
        account = account_of(source)
        target = IngestTarget(
            services.tables(),
            DjangoClock(),
            source.audience,
            stop=self._is_over,
            forbidden=partial(self._is_forbidden, hold=True),
        )
        reports = pull_account(
            account,
            source.folder_patterns,
            target,
            StoredSyncStates(source, account.address),
            self._in_turn,
            pause=self._pause,
        )
        try:
            for report in reports:
                self._note(report)
        except _OverError:
            self.whole = False

    def succeed(self) -> None:
        """Write down that it went well, or which places did not."""
        self._note_quiet()
        first = self.errors[0] if self.errors else None
        self._end(
            error=_sentence(first),
            hint=_hint(first),
            failures=0,
            # What is left is next in turn.
            due_at=wall_clock() + self.source.every * SECOND
            if self.whole and not self.left
            else self.started,
            pulled_at=wall_clock(),
        )

    def fail(self, error: TapestryError) -> None:
        """Write down what went wrong, and try again after a while that grows."""
        refused = PATIENCE_WHEN_REFUSED if isinstance(error, RefusedError) else 0
        if refused:
            # A token may be refused before its time: get another.
            self._unchanged().update(access_token_until=0)
        failures = self.source.failures + 1
        pause = max(self.source.every, pause_after(failures + refused))
        self._end(
            error=_sentence(error),
            hint=_hint(error),
            failures=failures,
            due_at=wall_clock() + int(pause * SECOND),
        )
        self._note_quiet()

    def _is_over(self) -> bool:
        return time.monotonic() >= self.deadline or self._is_forbidden()

    def _is_forbidden(self, *, hold: bool = False) -> bool:
        """Tell whether it was paused, deleted or changed meanwhile, or its owner may no longer.

        ``hold``: whoever is about to change it waits for the end of the caller's transaction.
        """
        same = self._unchanged().filter(active=True).select_related("owner")
        found = (same.select_for_update(of=("self",)) if hold else same).first()
        return found is None or not may_pull(found)

    def _pause(self, seconds: float) -> None:
        """Wait before a line that broke is reached again."""
        time.sleep(seconds)
        if self._is_forbidden():
            raise _OverError

    def _unchanged(self) -> QuerySet[Source]:
        """Return the source, or none if it is another account by now, or for others."""
        as_it_was = {name: getattr(self.source, name) for name in WHOSE}
        return Source.objects.filter(pk=self.source.pk, **as_it_was)

    def _in_turn(self, folders: list[str]) -> list[str]:
        """Return the places that were not looked at for longest first: each has its turn."""
        found = Folder.objects.filter(source=self.source).values_list("name", "checked_at")
        looked = {name: at or 0 for name, at in found}
        return sorted(folders, key=lambda folder: looked.get(stored_name(folder), 0))

    def _note(self, report: FolderReport) -> None:
        now = wall_clock()
        came = report.tally
        self.tally += came
        self.whole = self.whole and (report.complete or report.error is not None)
        self.left = report.remaining
        if report.error is not None:
            self.errors.append(report.error)
        elif not came.read:
            self.quiet.append(stored_name(report.folder))
            return
        folder, _made = Folder.objects.get_or_create(
            source=self.source, name=stored_name(report.folder)
        )
        changes: dict[str, Any] = {"checked_at": now, "error": _sentence(report.error)}
        if came.added:
            changes["added_at"] = now
        Folder.objects.filter(pk=folder.pk).update(
            read=F("read") + came.read, added=F("added") + came.added, **changes
        )

    def _note_quiet(self) -> None:
        """Write down, for all at once, that these places were looked at and had nothing new."""
        now = wall_clock()
        for names in batched(self.quiet):
            same = Folder.objects.filter(source=self.source, name__in=names)
            same.update(checked_at=now, error="")
            new = set(names).difference(same.values_list("name", flat=True))
            Folder.objects.bulk_create(
                (Folder(source=self.source, name=name, checked_at=now) for name in sorted(new)),
                ignore_conflicts=True,
            )

    def _end(self, error: str, **changes: Any) -> None:
        source = self.source
        if not Source.objects.filter(pk=source.pk).exists():
            return
        known = source.error
        # One that was changed meanwhile is due by what the change said.
        due_at = changes.pop("due_at")
        self._unchanged().filter(due_at=source.due_at).update(due_at=due_at)
        self._unchanged().update(error=error, **changes)
        source.refresh_from_db()
        if self.tally.read or (error and error != known):
            self._record(error)

    def _record(self, error: str) -> None:
        Pull.objects.create(
            source=self.source,
            started_at=self.started,
            ended_at=wall_clock(),
            read=self.tally.read,
            added=self.tally.added,
            duplicates=self.tally.duplicates,
            broken=self.tally.broken,
            error=error,
        )
        old = Pull.objects.filter(source=self.source).values_list("pk", flat=True)[KEPT:]
        Pull.objects.filter(pk__in=list(old)).delete()


def may_pull(source: Source) -> bool:
    """Tell whether the owner of a source may put mail there, still."""
    owner = source.owner
    return owner.is_active and source.audience in people.audiences(owner)


def _sentence(error: TapestryError | None) -> str:
    return storable(error.message) if error is not None else ""


def _hint(error: TapestryError | None) -> str:
    return storable(error.hint or "") if error is not None else ""
