"""What a person did with messages: done, starred, snoozed, muted; and how each step is undone.

It is kept by person and message, not by match: what three filters found is done once.
Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.db import models
from django.db.models import Q

from filters.people.models import User


class Mute(models.Model):
    """A thread that a person muted: it is not sent, nor in their inbox.

    ``root`` is its first msgid, as cards name it, and ``at`` when it was muted.  ``step`` is the
    instant of the step on the site's pages that muted it (filters.inbox.triage.steps), or 0.  A
    thread has several if it was joined of threads that were muted apart: one of them undone
    leaves the others.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="mutes")
    root = models.TextField()
    at = models.BigIntegerField(default=0, editable=False)
    step = models.BigIntegerField(default=0, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "root", "step"], name="mute_once")]

    def __str__(self) -> str:
        return self.root


class MessageStateQuerySet(models.QuerySet["MessageState"]):
    """States of messages."""

    def of_messages(self, user: User, msgids: Collection[str]) -> dict[str, MessageState]:
        """Return what a person did with messages, of which they did anything, by msgid."""
        return {state.msgid: state for state in self.filter(owner=user, msgid__in=msgids)}


class MessageState(models.Model):
    """What a person did with a message: each instant is null unless it is done, starred, snoozed.

    ``skipped_at``: a filter of theirs keeps it out of the inbox since then, and in its own list.
    ``pinned_at``: it stands at the top of the inbox since then.

    ``audience`` is that of the copy that they saw.  A message is snoozed while ``snoozed_until``
    is in the future.  ``changed_at`` is the instant of the last step that changed this row.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="message_states")
    msgid = models.TextField()
    audience = models.CharField(max_length=200)
    done_at = models.BigIntegerField(null=True, blank=True)
    starred_at = models.BigIntegerField(null=True, blank=True)
    snoozed_until = models.BigIntegerField(null=True, blank=True)
    skipped_at = models.BigIntegerField(null=True, blank=True)
    pinned_at = models.BigIntegerField(null=True, blank=True)
    changed_at = models.BigIntegerField()

    objects = MessageStateQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "msgid"], name="message_state_once")
        ]
        indexes = [
            models.Index(
                fields=["owner", "done_at"],
                condition=Q(done_at__isnull=False),
                name="message_state_done",
            ),
            models.Index(
                fields=["owner", "starred_at"],
                condition=Q(starred_at__isnull=False),
                name="message_state_starred",
            ),
            models.Index(
                fields=["owner", "snoozed_until"],
                condition=Q(snoozed_until__isnull=False),
                name="message_state_snoozed",
            ),
            models.Index(
                fields=["owner", "pinned_at"],
                condition=Q(pinned_at__isnull=False),
                name="message_state_pinned",
            ),
        ]

    def __str__(self) -> str:
        return self.msgid


class TriageStep(models.Model):
    """One action of a person on some messages, kept for a while so that it can be undone.

    ``at`` differs from that of all other steps of the person.  ``count`` is that of messages.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(User, models.CASCADE, related_name="triage_steps")
    at = models.BigIntegerField()
    action = models.CharField(max_length=20)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "at"], name="triage_step_once")]

    def __str__(self) -> str:
        return f"{self.action} {self.count}"


class TriageStepPart(models.Model):
    """What a batch of a step changed, as it was before.

    ``states``: ``[msgid, audience, done_at, starred_at, snoozed_until, skipped_at, pinned_at,
    changed_at]``, the last null where there was no row.  ``reads``: ``[key of the match,
    read_at]``.  ``muted``: roots of threads.  ``unmuted``: ``[root, the instant of the step that
    muted it]``.
    """

    step = models.ForeignKey(TriageStep, models.CASCADE, related_name="parts")
    states = models.JSONField(default=list)
    reads = models.JSONField(default=list)
    muted = models.JSONField(default=list)
    unmuted = models.JSONField(default=list)


class Selection(models.Model):
    """All messages of a list at one moment, which a person selected there."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(User, models.CASCADE, related_name="selections")
    at = models.BigIntegerField()
    count = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.count} messages"


class SelectionPart(models.Model):
    """A batch of a selection: keys of cards."""

    selection = models.ForeignKey(Selection, models.CASCADE, related_name="parts")
    cards = models.JSONField(default=list)
