"""What filters matched, and the summaries of messages that lists show.

Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from filters.authoring.models import Filter
from filters.inbox.models.visibility import CardQuerySet, MatchQuerySet
from filters.runs.models import SingleRow
from tapestry.deliver.timing.schedule import HELD


class Card(models.Model):
    """The summary of a message: a copy of what a list shows, so that an inbox is one query.

    ``ts``, ``received`` and ``date`` are the columns of the messages table; ``imported`` names the
    import with which the message came if it was old then.  ``root`` names its conversation
    (filters.inbox.lists.roots).  ``beginning`` is its first words, and ``attachments`` how
    many files it has.  ``made_at``: since when it can be listed.
    """

    msgid = models.TextField()
    audience = models.CharField(max_length=200)
    ts = models.BigIntegerField()
    received = models.BigIntegerField()
    date = models.BigIntegerField(null=True)
    sender = models.TextField(default="", blank=True)
    sender_name = models.TextField(default="", blank=True)
    subject = models.TextField(default="", blank=True)
    imported = models.TextField(default="", blank=True)
    root = models.TextField(default="", blank=True)
    beginning = models.TextField(default="", blank=True)
    attachments = models.IntegerField(default=0)
    made_at = models.BigIntegerField(default=0)

    objects = CardQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["msgid", "audience"], name="card_once")]
        indexes = [models.Index(fields=["root"], name="card_root")]

    def __str__(self) -> str:
        return self.subject or "(no subject)"


class ThreadPosition(SingleRow):
    """Up to which instant of the table of threads all cards have their roots."""

    ts = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.ts)


class Match(models.Model):
    """A message that a filter matched; listed once it has a card, and until it is retracted.

    ``matched_at`` is the first instant at which it matched; in a live filter, that at which it
    last began to match.  ``retracted_at``: since then it no longer matches that live filter.
    ``evidence`` holds the keys of the rows that made it match, ``evidence_rows`` what its owner
    may see of them, and ``explanation`` the words of the condition that was met.
    ``shown_at`` is when it is shown and sent; HELD until nothing in its filter is unread
    (filters.runs.store.schedule).
    ``listed_at``: when it got its card.
    ``refreshed_at``: when card and evidence rows were last copied from the tables; null if stale.
    ``sequence`` is its position in the release sequence (filters.runs.store.release); null until it
    is released, and again from its retraction until that is released.
    ``acted_at`` is when its filter last acted on the message, null if it has not, and ``acts`` what
    it did then, each with what became of it: STANDS, LEFT or OWN; of a tag, its annid beside it.
    ``left``: of one that came back, the instants and the position that it had when it had left, for
    it has them again if it leaves before it is shown; else empty.
    """

    filter = models.ForeignKey(Filter, models.CASCADE, related_name="matches", db_index=False)
    msgid = models.TextField()
    audience = models.CharField(max_length=200)
    matched_at = models.BigIntegerField()
    stored_at = models.BigIntegerField()
    shown_at = models.BigIntegerField()
    disjunct = models.IntegerField(default=0)
    evidence = models.JSONField(default=list)
    evidence_rows = models.JSONField(default=list)
    explanation = models.TextField(default="", blank=True)
    card = models.ForeignKey(Card, models.SET_NULL, null=True, related_name="matches")
    listed_at = models.BigIntegerField(null=True, blank=True)
    refreshed_at = models.BigIntegerField(null=True, blank=True)
    read_at = models.BigIntegerField(null=True, blank=True)
    retracted_at = models.BigIntegerField(null=True, blank=True)
    sequence = models.BigIntegerField(null=True, blank=True)
    left = models.JSONField(default=dict, blank=True)
    acted_at = models.BigIntegerField(null=True, blank=True)
    acts = models.JSONField(default=dict, blank=True)

    STANDS, LEFT, OWN = "stands", "left", "own"
    """An act stands, was undone as its live filter let go, or its owner has the last word on it."""

    objects = MatchQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "matches"
        constraints = [models.UniqueConstraint(fields=["msgid", "filter"], name="match_once")]
        indexes = [
            models.Index(
                fields=["filter", "shown_at", "stored_at", "card"],
                condition=Q(read_at=None, retracted_at=None),
                name="match_unread",
            ),
            models.Index(fields=["filter", "matched_at"], name="match_by_time"),
            models.Index(
                fields=["filter", "refreshed_at"],
                condition=Q(refreshed_at__isnull=False),
                name="match_refreshed",
            ),
            models.Index(
                fields=["filter", "retracted_at"],
                condition=Q(retracted_at__isnull=False),
                name="match_retracted",
            ),
            models.Index(
                fields=["id"],
                condition=Q(card=None) | Q(refreshed_at=None),
                name="match_stale",
            ),
            models.Index(fields=["shown_at"], condition=Q(sequence=None), name="match_unreleased"),
            models.Index(
                fields=["filter", "sequence"],
                condition=Q(sequence__isnull=False),
                name="match_sequence",
            ),
            models.Index(fields=["filter"], condition=Q(shown_at=HELD), name="match_held"),
            models.Index(
                fields=["filter", "acted_at"],
                condition=Q(acted_at__isnull=False),
                name="match_acted",
            ),
        ]

    def __str__(self) -> str:
        return self.msgid
