"""The state of an installation: its clock, windows, heartbeats, imports, and what is set aside.

Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

from typing import Self

from django.db import connection, models
from django.db.models import F, Min


class SingleRow(models.Model):
    """A table of one row."""

    class Meta:
        abstract = True

    @classmethod
    def lock(cls, pk: int = 1) -> Self:
        """Lock the row for the rest of the caller's transaction, and return it.

        Updating the row before reading it takes SQLite's write lock and PostgreSQL's lock on
        the row alike.
        """
        row = cls._default_manager.filter(pk=pk)
        if not row.update(id=F("id")):
            cls._default_manager.bulk_create([cls(pk=pk)], ignore_conflicts=True)
            row.update(id=F("id"))
        return row.get()


class Clock(SingleRow):
    """The one clock of an installation, read and advanced under its lock.

    ``last`` is the newest instant that was stamped or run to.
    """

    last = models.BigIntegerField(default=0)

    @classmethod
    def instant(cls) -> int:
        """Return the newest instant without the lock; 0 if there is none yet."""
        return cls.objects.values_list("last", flat=True).first() or 0

    def confirm(self) -> None:
        """Raise DatabaseError if the lock went with the connection to the database."""
        if connection.vendor != "sqlite":  # which has its lock as long as this process lives
            type(self).objects.filter(pk=self.pk).exists()

    def advance(self, to: int) -> None:
        """Store a newer instant; an older one leaves the clock as it is."""
        if to > self.last:
            self.last = to
            self.save(update_fields=["last"])

    def __str__(self) -> str:
        return str(self.last)


class Heartbeat(models.Model):
    """When a lane of the workers last ran, or the listener was alive: for the health page.

    DELIVERIES and OUTBOX began with their last look at the clock (filters.site.work.clock_step),
    UPKEEP at what it took for the present (filters.upkeep.retention).
    """

    SHARED, LISTENER, OWN, UNPROVEN, DELIVERIES, OUTBOX, UPKEEP = range(1, 8)
    """The rows there are; SHARED is of the first part of the shared window, ``of_part`` of all."""

    PARTS = 100
    """The row of a part of the shared window after the first is so many further on."""

    started_at = models.BigIntegerField(default=0)
    ended_at = models.BigIntegerField(default=0)
    error = models.TextField(default="", blank=True)
    error_type = models.CharField(max_length=100, default="", blank=True)
    """The name of the class of the error."""

    @classmethod
    def of_part(cls, part: int) -> int:
        """Return the row of a part of the shared window."""
        return cls.PARTS + part if part else cls.SHARED

    def __str__(self) -> str:
        return self.error or "well"


class SharedWindow(SingleRow):
    """The watermark of the filters of one part of the shared window; its key is 1 + the part.

    ``enrollments`` counts how often filters joined: a window that began before is not stored.
    """

    since = models.BigIntegerField(null=True, blank=True)
    ran_at = models.BigIntegerField(null=True, blank=True)
    enrollments = models.BigIntegerField(default=0, editable=False)

    @classmethod
    def lock_all(cls) -> list[SharedWindow]:
        """Lock all parts, the lowest first, with which all who do so begin; return them."""
        if not SharedWindow.objects.filter(pk=1).update(id=F("id")):
            cls.lock()
        return list(SharedWindow.objects.select_for_update().order_by("pk"))

    @classmethod
    def first_since(cls) -> int | None:
        """Return up to where all parts were run; None if none ever was."""
        since: int | None = cls._default_manager.aggregate(since=Min("since"))["since"]
        return since

    @property
    def part(self) -> int:
        return self.pk - 1

    def __str__(self) -> str:
        return str(self.since)


class ReleaseCounter(SingleRow):
    """The last position in the release sequence that was given to a match."""

    last = models.BigIntegerField(default=0)

    @classmethod
    def position(cls) -> int:
        """Return the last position, without the lock; 0 if there is none yet."""
        return cls.objects.values_list("last", flat=True).first() or 0

    def __str__(self) -> str:
        return str(self.last)


class CompleteUpTo(models.Model):
    """Up to when all mail of a source was here, from the instant ``ts`` on.

    NEVER (tapestry.core.clock) if it does not count from then on.  Rows are not changed, and kept
    for as long as a filter that waits reads them (filters.runs.store.waiting).
    """

    source = models.BigIntegerField()
    audience = models.CharField(max_length=200)
    upto = models.BigIntegerField()
    ts = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["audience", "ts"], name="complete_up_to")]

    def __str__(self) -> str:
        return f"{self.source} for {self.audience}"


class Import(models.Model):
    """An append of mail that was there before anybody asked for it here, by its ``ts``.

    ``name`` is that of the archive or folder: several appends may be of one import.
    """

    ts = models.BigIntegerField(primary_key=True)
    name = models.TextField()

    def __str__(self) -> str:
        return self.name


class Alarm(models.Model):
    """A part that has been unwell since an instant, or a source that stands still, by its name.

    Of an end that the operator is still to be told of, ``ended_at`` says when that was.  ``mailed``
    and ``posted`` are how far the operator was told of it, by mail and by the webhook.
    """

    SILENT, TOLD, ENDED = range(3)
    """The operator knows nothing of it, that it began, that it is over."""

    key = models.CharField(max_length=60, unique=True)
    says = models.TextField()
    since = models.BigIntegerField()
    ended_at = models.BigIntegerField(null=True, blank=True)
    mailed = models.SmallIntegerField(default=SILENT)
    posted = models.SmallIntegerField(default=SILENT)

    class Meta:
        ordering = ["since", "pk"]

    def __str__(self) -> str:
        return self.says


class SetAside(models.Model):
    """Something that waits, because what was done for it raised an error; nothing else waits.

    Its owner reads the ``reason``, a sentence; the operator the traceback, which the number of
    the row names.  It is tried again after ``try_again_at``, and at once by another ``version`` of
    the program.  A success deletes the row.
    """

    class Kind(models.TextChoices):
        """What is set aside; ``filters.site.work.set_aside`` says what each has as its key."""

        FILTER = "filter", "filter"
        ENROLLED = "enrolled", "filter in the shared window"
        INDEX = "index", "part of the index"
        MATCH = "match", "match in a list"
        APPRAISAL = "appraisal", "importance of a message"
        MESSAGE = "message", "message"
        SOURCE = "source", "source"
        DESTINATION = "destination", "destination"
        PERSON = "person", "person"
        STEP = "step", "step of upkeep"

    kind = models.CharField(max_length=20, choices=Kind.choices)
    key = models.CharField(max_length=200)
    reason = models.TextField()
    error_class = models.CharField(max_length=200)
    traceback = models.TextField()
    attempts = models.IntegerField(default=0)
    first_at = models.BigIntegerField()
    last_at = models.BigIntegerField()
    try_again_at = models.BigIntegerField()
    version = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "key"], name="set_aside_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}: {self.error_class}"
