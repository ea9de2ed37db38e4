"""Coming and going: invitations, exports of a person's data, and accounts that are being deleted.

Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

import uuid

from django.db import models

from filters.people.models.account import User


class Invitation(models.Model):
    """A link with which somebody makes an account, once; ``digest`` is a keyed digest of its token.

    ``is_asked`` if they asked for it themselves, where sign-up is on; else an operator invites.
    """

    email = models.EmailField(max_length=254)
    digest = models.CharField(max_length=64, unique=True)
    is_asked = models.BooleanField(default=False)
    created_at = models.BigIntegerField()
    expires_at = models.BigIntegerField()
    used_at = models.BigIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return self.email


class Export(models.Model):
    """A file with all that is a person's, made by a task, and kept for a day.

    Its file is named by ``uid``.  ``error`` says why there is none.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="exports")
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    asked_at = models.BigIntegerField()
    ended_at = models.BigIntegerField(null=True, blank=True)
    size = models.BigIntegerField(default=0)
    messages = models.BigIntegerField(default=0)
    annotations = models.BigIntegerField(default=0)
    error = models.TextField(default="", blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner"], condition=models.Q(ended_at=None), name="one_export_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"export of {self.owner}"


class Removal(models.Model):
    """An account that its person deletes: its name, and when all that goes is gone.

    ``digest`` is a keyed digest of the token of the page that tells how far it is.
    """

    user_id = models.BigIntegerField()
    name = models.CharField(max_length=150)
    digest = models.CharField(max_length=64, unique=True)
    asked_at = models.BigIntegerField()
    done_at = models.BigIntegerField(null=True, blank=True)
    messages = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return self.name
