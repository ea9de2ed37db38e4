"""Personal access tokens: by which a program acts for the person who made it."""

from __future__ import annotations

from django.db import models

from filters.people.models import User
from filters.site.work.crypto import opaque_keys


class AccessToken(models.Model):
    """A secret by which a program uses the API for its owner, of which the digest alone is kept.

    ``scopes`` are names of ``SCOPES``, with blanks between.  After ``ends_at`` it opens nothing.
    ``used_at``: when it was last used, to ``filters.api.authentication.RECORDED``.  Instants are
    microseconds.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="access_tokens")
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.CharField(max_length=100)
    created_at = models.BigIntegerField()
    ends_at = models.BigIntegerField()
    used_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> str:
        """Its primary key as addresses have it: it numbers the tokens of all people."""
        return opaque_keys.encrypt(self.pk)

    @property
    def scope_words(self) -> list[str]:
        """What it opens, in words."""
        return [words for name, words in SCOPES.items() if name in self.scopes.split()]


class KeptAnswer(models.Model):
    """The answer to a call that had a key: the same call again is answered so, and does nothing.

    ``name`` is a digest of the key, ``call`` one of the whole call.  ``content`` is encrypted: the
    owner alone may see it.  ``status`` is null while the call is being answered.
    """

    token = models.ForeignKey(AccessToken, models.CASCADE, related_name="kept_answers")
    name = models.CharField(max_length=64)
    call = models.CharField(max_length=64)
    at = models.BigIntegerField()
    status = models.PositiveSmallIntegerField(null=True)
    content_type = models.CharField(max_length=100, default="")
    content = models.TextField(default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "name"], name="kept_answer_once")]

    def __str__(self) -> str:
        return f"{self.status} at {self.at}"


class TokenUse(models.Model):
    """A call that a program made with a token, and what it was ``about``.

    Instants are microseconds; ``last_at`` is exact to ``filters.api.authentication.RECORDED``.
    """

    token = models.ForeignKey(AccessToken, models.CASCADE, related_name="uses")
    call = models.CharField(max_length=100)
    about = models.CharField(max_length=200)
    first_at = models.BigIntegerField()
    last_at = models.BigIntegerField()

    class Meta:
        ordering = ["-last_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["token", "call", "about"], name="token_use_once")
        ]

    def __str__(self) -> str:
        return f"{self.call} {self.about}".rstrip()


SCOPES = {
    "read": "read your mail and your filters, and search",
    "filters": "create, change and delete your filters",
    "acts": "vote, tag, star, snooze, mark read and done",
    "sources": "add, change and remove your sources",
    "delivery": "add, change and remove your destinations and feeds",
    "drafts": "write drafts and templates, and delete them",
    "imap": "read your lists with a mail program, by IMAP, and mark what is in them",
    "jmap": "read your lists and letters with a mail program, by JMAP, and mark what is in lists",
    "send": "send mail in your name, and choose by which server",
}
"""What a token may open, in words for its owner."""
