"""Appraisers: a person's rules of what matters, and what came of them for each message.

They order lists and decide nothing else.
"""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from filters.inbox.models.match import Card
from filters.people.models import User
from filters.runs.models import SingleRow

HEAVIEST = 10
"""The greatest weight of a rule, for or against a message."""


class AppraiserRule(models.Model):
    """A rule of a person: its weight, and what it counts, such as `from Jones` or `per vote`.

    ``place`` is its place in the person's list of rules.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="appraiser_rules")
    place = models.IntegerField(default=0)
    weight = models.SmallIntegerField(
        validators=[MinValueValidator(-HEAVIEST), MaxValueValidator(HEAVIEST)]
    )
    text = models.TextField(max_length=500)

    class Meta:
        ordering = ["place", "pk"]

    def __str__(self) -> str:
        return f"{self.weight:+} {self.text}"


class Appraiser(models.Model):
    """The state of a person's appraisals.

    ``signature`` is the meaning of the rules by which they are computed, and ``audiences`` whose
    votes and replies they count.  ``revision`` counts changes of the rules, and ``computed`` those
    of scores, batch by batch.  ``is_ready``: all are computed by the present rules.
    """

    owner = models.OneToOneField(User, models.CASCADE, related_name="appraiser")
    signature = models.TextField(default="", blank=True)
    audiences = models.JSONField(default=list, blank=True)
    revision = models.IntegerField(default=0)
    computed = models.BigIntegerField(default=0)
    is_ready = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"appraiser of {self.owner}"


class Appraisal(models.Model):
    """What a person's rules come to for a message, without those that depend on now or on reading.

    ``received`` is that of the card.  ``votes`` are those for the message less those against it,
    and ``replies`` its answers, as far as the person may see them; null if they are to be counted.
    """

    owner = models.ForeignKey(User, models.CASCADE, db_index=False, related_name="appraisals")
    card = models.ForeignKey(Card, models.CASCADE, related_name="appraisals")
    received = models.BigIntegerField()
    score = models.IntegerField(default=0)
    votes = models.IntegerField(null=True)
    replies = models.IntegerField(null=True)
    is_stale = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "card"], name="appraisal_once")]
        indexes = [
            models.Index(fields=["owner", "score", "received", "card"], name="appraisal_order"),
            models.Index(fields=["owner"], condition=Q(is_stale=True), name="appraisal_stale"),
        ]

    def __str__(self) -> str:
        return f"{self.score:+} for {self.card_id}"


class AppraisalPosition(SingleRow):
    """How far the tables have been read for votes and replies that change appraisals."""

    ts = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.ts)
