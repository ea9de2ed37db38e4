"""What programs were last told of the lists of a person, and in which state that was."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from filters.compose.models import OutgoingMessage
from filters.inbox.models import Card
from filters.people.models import User


class JmapAccount(models.Model):
    """The account of a person: made when a program first asks for it.

    ``validity`` is when that was, in seconds: states and ids of before mean nothing.  ``state``
    only grows, by one with each change of a record.  ``mark`` is that of the lists
    (filters.inbox.counts) as the records have them.  ``forgotten``: changes up to this state are
    no longer known.
    """

    owner = models.OneToOneField(User, models.CASCADE, related_name="jmap_account")
    validity = models.BigIntegerField()
    state = models.BigIntegerField(default=0)
    mark = models.CharField(max_length=64, default="")
    forgotten = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.owner)


class JmapUpload(models.Model):
    """Bytes that a program has put here for an hour (filters.jmap.blobs); ``at`` is when."""

    account = models.ForeignKey(JmapAccount, models.CASCADE, related_name="uploads")
    at = models.BigIntegerField()
    size = models.IntegerField()
    content = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.size} bytes"


class JmapRecord(models.Model):
    """An Email, Thread, Mailbox or submission as programs know it; ``value`` is what may change.

    ``name``: of a Thread a digest of its root; of an Email the key of its card, or that of a letter
    and its version with a sign before, and the name of its thread (a message of another thread is
    another Email: RFC 8621, 3); of a Mailbox its shelf, or the key of its filter; of a submission
    the key of its letter.  ``value``: of an Email the names of its mailboxes and its keywords,
    between blanks; of a Thread the Emails, in order; of a Mailbox its name and its counts, as JSON;
    of a submission whether it can be undone.  ``created`` and ``changed`` are states of the
    account.  ``gone``: what comes back is a new record.
    """

    EMAIL, THREAD, MAILBOX, SUBMISSION = "Email", "Thread", "Mailbox", "EmailSubmission"

    account = models.ForeignKey(JmapAccount, models.CASCADE, related_name="records")
    kind = models.CharField(max_length=15)
    name = models.TextField()
    value = models.TextField()
    # A record outlives its card, or letter: programs are told that the message is gone.
    card = models.ForeignKey(
        Card, models.DO_NOTHING, null=True, db_constraint=False, related_name="+"
    )
    letter = models.ForeignKey(
        OutgoingMessage, models.DO_NOTHING, null=True, db_constraint=False, related_name="+"
    )
    created = models.BigIntegerField()
    changed = models.BigIntegerField()
    gone = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "kind", "name"], condition=Q(gone=False), name="jmap_record_once"
            ),
            models.UniqueConstraint(fields=["account", "changed"], name="jmap_record_changed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
