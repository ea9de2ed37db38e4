"""What is kept about sources: where mail is pulled from, and how that went."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse


class Source(models.Model):
    """A mailbox or news server that somebody's mail is pulled from.

    ``secret`` is encrypted (filters.runtime.encryption).  ``places`` are folders, or names and
    patterns of groups.  ``due_at`` is when it is to be pulled next.  ``failures`` counts those
    since the last success, which ``error`` tells.  ``listened_at``: when some process last knew
    that it hears of new mail at once.  ``renewed`` is what was last got for a refresh token,
    encrypted too, and good until ``renewed_until``.
    """

    class Kind(models.TextChoices):
        """What the server speaks."""

        IMAP = "imap", "a mailbox (IMAP)"
        NNTP = "nntp", "news (NNTP)"

    class Security(models.TextChoices):
        """How the line is kept from being overheard."""

        TLS = "tls", "TLS"
        STARTTLS = "starttls", "STARTTLS"
        NONE = "none", "nothing"

    class Method(models.TextChoices):
        """How one says who one is."""

        PASSWORD = "password", "a password or an app password"
        XOAUTH2 = "xoauth2", "a token (XOAUTH2)"

    owner = models.ForeignKey(User, models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    host = models.CharField(max_length=253)
    port = models.IntegerField(validators=[MinValueValidator(1), MaxValueValidator(65535)])
    security = models.CharField(max_length=10, choices=Security.choices, default=Security.TLS)
    user = models.CharField(max_length=254, default="", blank=True)
    method = models.CharField(max_length=10, choices=Method.choices, default=Method.PASSWORD)
    secret = models.TextField(default="", blank=True)
    token_url = models.URLField(default="", blank=True)
    client = models.CharField(max_length=200, default="", blank=True)
    renewed = models.TextField(default="", blank=True)
    renewed_until = models.BigIntegerField(default=0)
    audience = models.CharField(max_length=200)
    places = models.JSONField(default=list, blank=True)
    every = models.IntegerField(default=60, validators=[MinValueValidator(10)])
    active = models.BooleanField(default=False)
    due_at = models.BigIntegerField(default=0)
    failures = models.IntegerField(default=0)
    error = models.TextField(default="", blank=True)
    hint = models.TextField(default="", blank=True)
    pulled_at = models.BigIntegerField(null=True, blank=True)
    listened_at = models.BigIntegerField(null=True, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Those that are due are found by an index."""

        ordering = ["host", "user", "pk"]
        indexes = [models.Index(fields=["due_at"], condition=Q(active=True), name="source_due")]

    def __str__(self) -> str:
        return f"{self.user} at {self.host}" if self.user else self.host

    def get_absolute_url(self) -> str:
        """Return the page that says how it is doing."""
        return reverse("source", args=[self.pk])

    @property
    def is_news(self) -> bool:
        """Tell whether its places are newsgroups."""
        return self.kind == self.Kind.NNTP


class Place(models.Model):
    """A folder or group of a source, as it was last found.

    ``remembered`` is what lets a pull pass it by where nothing changed (tapestry.ingest), for
    one account and audience.
    ``read`` and ``added`` count all pulls so far; ``added_at`` is when something last came.
    """

    source = models.ForeignKey(Source, models.CASCADE, related_name="found")
    name = models.CharField(max_length=500)
    remembered = models.JSONField(default=dict, blank=True)
    read = models.BigIntegerField(default=0)
    added = models.BigIntegerField(default=0)
    looked_at = models.BigIntegerField(null=True, blank=True)
    added_at = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(default="", blank=True)

    class Meta:
        """Each once per source."""

        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="place_once")]

    def __str__(self) -> str:
        return self.name


class Pull(models.Model):
    """One pull of a source that brought something, or failed: instants, counts, what went wrong."""

    source = models.ForeignKey(Source, models.CASCADE, related_name="pulls")
    started_at = models.BigIntegerField()
    ended_at = models.BigIntegerField()
    read = models.IntegerField(default=0)
    added = models.IntegerField(default=0)
    duplicates = models.IntegerField(default=0)
    broken = models.IntegerField(default=0)
    error = models.TextField(default="", blank=True)

    class Meta:
        """The latest are shown."""

        ordering = ["-pk"]
        indexes = [models.Index(fields=["source", "-id"], name="pull_latest")]

    def __str__(self) -> str:
        return self.error or f"{self.added} added"
