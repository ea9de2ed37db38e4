"""The annotation outbox: what people say of messages is kept here until it is in its table."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from filters.people.models import User
from tapestry.core.message import Annotation

_RETRACTIONS = uuid.UUID("0f0c2a0e-6d5b-4d0c-9a55-2f3a8f1f4c11")
"""The name space of the keys of retractions."""


def retraction_key(annid: str) -> str:
    """Return the key of what takes back an annotation: whoever asks twice gets the same one."""
    return str(uuid.uuid5(_RETRACTIONS, annid))


class OutboxAnnotation(models.Model):
    """A vote, tag, note, priority or retraction, kept here until it is in the annotations table.

    From ``appended_at`` on, an instant of the tables, it is visible there.
    """

    annid = models.CharField(max_length=40, unique=True)
    msgid = models.TextField()
    owner = models.ForeignKey(User, models.CASCADE, related_name="annotations")
    kind = models.CharField(max_length=40)
    value = models.TextField(null=True, blank=True)
    number = models.FloatField(null=True, blank=True)
    starts = models.BigIntegerField(null=True, blank=True)
    audience = models.CharField(max_length=200)
    created = models.BigIntegerField()
    appended_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=Q(appended_at=None), name="outbox_pending"),
            models.Index(fields=["msgid"], name="outbox_msgid"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} on {self.msgid}"

    def as_annotation(self) -> Annotation:
        owner, content = self.owner.get_username(), (self.kind, self.value, self.number)
        return Annotation(self.annid, self.msgid, owner, *content, self.audience, self.starts)
