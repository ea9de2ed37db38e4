"""Pull one source: alone, for a while, and write down how it went."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F

from filters import parts, people
from filters.chunks import chunks
from filters.models_source import Place, Pull, Source
from filters.sources.alone import alone
from filters.sources.credentials import account_of
from filters.stores import DjangoClock
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC
from tapestry.ingest.account import RefusedError
from tapestry.ingest.backoff import pause_after
from tapestry.ingest.pull_account import PlaceReport, pull_account
from tapestry.ingest.taking import Intake, Tally

SLICE = 20.0
"""Seconds after which a pull leaves the rest for its next turn, so that others have theirs."""

KEPT = 200
"""How many of its pulls a source remembers."""

PATIENCE_WHEN_REFUSED = 5
"""A refusal counts as that many failures at once: asking often would only annoy."""


def pull(source: Source, seconds: float = SLICE) -> Tally | None:
    """Pull what is new, for about so long; return what came, None if another process is at it.

    What goes wrong is written down for the page; nothing is raised for it.
    """
    # On several machines an overlap costs work, but no correctness: each message is appended once.
    with alone(source, "source") as mine:
        if not mine:
            return None
        work = _Work(source, wall_clock(), time.monotonic() + seconds)
        try:
            work.run()
        except TapestryError as error:
            work.fail(error)
        except Exception as error:
            work.fail(TapestryError(f"It failed ({type(error).__name__}); the log says why."))
            raise
        else:
            work.succeed()
        return work.tally


@dataclass(frozen=True, slots=True)
class PlaceMemory:
    """What a source remembers of its folders or groups, in the database."""

    source: Source

    def recall(self, place: str) -> dict[str, Any]:
        """Return what was remembered last, empty if nothing was."""
        found = Place.objects.filter(source=self.source, name=place[:500]).first()
        return dict(found.remembered) if found else {}

    def remember(self, place: str, what: dict[str, Any]) -> None:
        """Remember that instead, at once."""
        Place.objects.update_or_create(
            source=self.source, name=place[:500], defaults={"remembered": what}
        )


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

    def run(self) -> None:
        source = self.source
        if source.audience not in (PUBLIC, *people.audiences(source.owner)):
            raise RefusedError(
                f"{source.owner} may not put mail there any more ({source.audience}).",
                hint="Choose another audience.",
            )
        intake = Intake(parts.tables(), DjangoClock(), source.audience, stop=self._is_over)
        reports = pull_account(
            account_of(source), source.places, intake, PlaceMemory(source), self._in_turn
        )
        for report in reports:
            self._note(report)

    def succeed(self) -> None:
        """Write down that it went well, or which places did not."""
        first = self.errors[0] if self.errors else None
        self._end(
            error=_sentence(first),
            hint=(first.hint or "") if first else "",
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
            Source.objects.filter(pk=self.source.pk).update(renewed_until=0)
        failures = self.source.failures + 1
        pause = max(self.source.every, pause_after(failures + refused))
        self._end(
            error=_sentence(error),
            hint=error.hint or "",
            failures=failures,
            due_at=wall_clock() + int(pause * SECOND),
        )

    def _is_over(self) -> bool:
        if time.monotonic() >= self.deadline:
            return True
        # Paused or deleted meanwhile.
        return not Source.objects.filter(pk=self.source.pk, active=True).exists()

    def _in_turn(self, places: list[str]) -> list[str]:
        """Return the places that were not looked at for longest first: each has its turn."""
        found = Place.objects.filter(source=self.source).values_list("name", "looked_at")
        looked = {name: at or 0 for name, at in found}
        return sorted(places, key=lambda place: looked.get(place[:500], 0))

    def _note(self, report: PlaceReport) -> None:
        now = wall_clock()
        came = report.tally
        self.tally += came
        self.whole = self.whole and (report.whole or report.error is not None)
        self.left = report.left
        if report.error is not None:
            self.errors.append(report.error)
        elif not came.read:
            self.quiet.append(report.place[:500])
            return
        place, _made = Place.objects.get_or_create(source=self.source, name=report.place[:500])
        changes: dict[str, Any] = {"looked_at": now, "error": _sentence(report.error)}
        if came.added:
            changes["added_at"] = now
        Place.objects.filter(pk=place.pk).update(
            read=F("read") + came.read, added=F("added") + came.added, **changes
        )

    def _note_quiet(self) -> None:
        """Write down, for all at once, that these places were looked at and had nothing new."""
        now = wall_clock()
        for names in chunks(self.quiet):
            same = Place.objects.filter(source=self.source, name__in=names)
            same.update(looked_at=now, error="")
            new = set(names).difference(same.values_list("name", flat=True))
            Place.objects.bulk_create(
                (Place(source=self.source, name=name, looked_at=now) for name in sorted(new)),
                ignore_conflicts=True,
            )

    def _end(self, error: str, **changes: Any) -> None:
        source = self.source
        if not Source.objects.filter(pk=source.pk).exists():
            return
        self._note_quiet()
        known = source.error
        # One that was changed meanwhile is due by what the change said.
        same = Source.objects.filter(pk=source.pk, due_at=source.due_at)
        due_at = changes.pop("due_at")
        same.update(due_at=due_at)
        Source.objects.filter(pk=source.pk).update(error=error, **changes)
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


def _sentence(error: TapestryError | None) -> str:
    return error.message if error is not None else ""
