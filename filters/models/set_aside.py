"""What is set aside: the one filter, message, source … whose work raised an error.

Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

from django.db import models


class SetAside(models.Model):
    """Something that waits, because what was done for it raised an error; nothing else waits.

    Its owner reads the ``reason``, a sentence; the operator the traceback, which the number of
    the row names.  It is tried again after ``try_again_at``, and at once by another ``version`` of
    the program.  A success deletes the row.
    """

    class Kind(models.TextChoices):
        """What is set aside; ``filters.runtime.set_aside`` says what each has as its key."""

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
