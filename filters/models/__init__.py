"""What is kept about people, filters and matches.  Instants are microseconds (tapestry.core)."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from filters.models.source import Place as Place
from filters.models.source import Pull as Pull
from filters.models.source import Source as Source
from tapestry.core.clock import BEGINNING
from tapestry.core.message import Annotation

filter_name = RegexValidator(
    r"\A[a-z0-9]+(-[a-z0-9]+)*\Z",
    "A name is small letters and digits, with single hyphens between: jones-replies.",
)


class Profile(models.Model):
    """What a person says of themselves: their time zone, and the addresses that are `me`."""

    user = models.OneToOneField(User, models.CASCADE, related_name="profile")
    time_zone = models.CharField(max_length=64, default="UTC")
    aliases = models.JSONField(default=list, blank=True, help_text="Addresses beside the account's")

    def __str__(self) -> str:
        return self.user.get_username()


class FormerAudience(models.Model):
    """The audience of an account or group that is gone, or has another name, and its key.

    While its mail is here nobody else may have that name (filters.accounts.retired_names).
    """

    name = models.CharField(max_length=200, unique=True)
    key = models.BigIntegerField()

    def __str__(self) -> str:
        return self.name


class Clock(models.Model):
    """The one clock of an installation: a single row, read and advanced under its lock."""

    last = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.last)


class Pulse(models.Model):
    """When the worker last ran what was due, or the listener was alive: for the health page."""

    WORKER, LISTENER = 1, 2
    """The rows there are."""

    started_at = models.BigIntegerField(default=0)
    ended_at = models.BigIntegerField(default=0)
    error = models.TextField(default="", blank=True)

    def __str__(self) -> str:
        return self.error or "well"


class Joint(models.Model):
    """How far all filters have been run that share their windows: a single row."""

    since = models.BigIntegerField(null=True, blank=True)
    ran_at = models.BigIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return str(self.since)


class Filter(models.Model):
    """A filter: its text, who wrote it, and how far it has been run.

    ``tql`` is what runs: the text as it was last understood, with the filters that it refers
    to written out.  Where some are other people's, its owner is shown ``shown`` instead, which
    names them; else that is empty.  ``since`` ends its last window; while it is ``joined``, that
    of Joint counts instead (filters.store.shared_window).  ``start`` is T0: what matched then
    is not delivered; null takes existing mail.  What matches after ``end`` is not kept; null
    has no end.  ``revision`` counts changes of the text, so that a run of an older text cannot
    store its matches.
    """

    class Visibility(models.TextChoices):
        """Who may see the filter itself; what it finds is always its owner's alone."""

        PRIVATE = "private", "only me"
        SHARED = "shared", "everyone here"

    class Mode(models.TextChoices):
        """Whether a message stays once it has matched."""

        KEEP = "keep", "keep what matched"
        LIVE = "live", "only while it matches"

    owner = models.ForeignKey(User, models.CASCADE, related_name="filters")
    name = models.CharField(max_length=60, validators=[filter_name])
    text = models.TextField(max_length=65536)
    phrase = models.TextField(default="", blank=True)
    tql = models.TextField(default="", blank=True)
    shown = models.TextField(default="", blank=True)
    visibility = models.CharField(
        max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE
    )
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.KEEP)
    timeliness = models.CharField(max_length=60, default="at once")
    active = models.BooleanField(default=True)
    revision = models.IntegerField(default=0)
    start = models.BigIntegerField(null=True, blank=True)
    end = models.BigIntegerField(null=True, blank=True)
    since = models.BigIntegerField(default=BEGINNING)
    joined = models.BooleanField(default=False, editable=False)
    ran_at = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        """Names are one person's own; those that run apart, or are to end, have an index."""

        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="filter_name_once")]
        indexes = [
            models.Index(
                fields=["since"], condition=Q(active=True, joined=False), name="filter_apart"
            ),
            models.Index(
                fields=["end"], condition=Q(active=True, end__isnull=False), name="filter_ends"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner.get_username()}.{self.name}"

    def get_absolute_url(self) -> str:
        """Return the page with what the filter found."""
        return reverse("filter", args=[self.name])

    def begin(self, start: int | None) -> None:
        """Let the next window be the first; ``start`` is T0, None takes existing mail."""
        self.start = start
        self.since = BEGINNING if start is None else start

    @property
    def has_ended(self) -> bool:
        """Tell whether it was run to its end, and stopped there."""
        return not self.active and self.end is not None and self.since >= self.end

    @property
    def is_live(self) -> bool:
        """Tell whether messages leave when they no longer match."""
        return self.mode == self.Mode.LIVE

    @property
    def shown_text(self) -> str:
        """Return the canonical phrase, or TQL where it has none, as its owner may see it."""
        return self.phrase or self.shown or self.tql or self.text

    @property
    def reason(self) -> str:
        """Return what is said of every match instead of which part was met; empty: that part."""
        return self.shown and self.shown_text


class Reference(models.Model):
    """That a filter refers to another by name, itself or through those it refers to.

    By name, not by key: the other may be deleted, and one of its name be made again.
    """

    filter = models.ForeignKey(Filter, models.CASCADE, related_name="references")
    owner = models.CharField(max_length=150)
    name = models.CharField(max_length=60)

    class Meta:
        """Who refers to a filter is found by its owner and name, in small letters."""

        constraints = [
            models.UniqueConstraint(fields=["filter", "owner", "name"], name="reference_once")
        ]
        indexes = [models.Index(fields=["owner", "name"], name="reference_to")]

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}"


class Rest(models.Model):
    """What was left to run of a filter's older text when it changed: its window to that instant."""

    filter = models.ForeignKey(Filter, models.CASCADE, related_name="rests")
    tql = models.TextField()
    start = models.BigIntegerField(null=True)
    since = models.BigIntegerField()
    until = models.BigIntegerField()
    reason = models.TextField(default="", blank=True)
    error = models.TextField(default="", blank=True)

    def __str__(self) -> str:
        return f"{self.filter} until {self.until}"


class Card(models.Model):
    """What a list shows of a message: a copy, so that an inbox is one query."""

    msgid = models.TextField()
    audience = models.CharField(max_length=200)
    ts = models.BigIntegerField()
    date = models.BigIntegerField(null=True)
    sender = models.TextField(default="", blank=True)
    sender_name = models.TextField(default="", blank=True)
    subject = models.TextField(default="", blank=True)

    class Meta:
        """One card per message and audience."""

        constraints = [models.UniqueConstraint(fields=["msgid", "audience"], name="card_once")]

    def __str__(self) -> str:
        return self.subject or "(no subject)"

    @property
    def sent(self) -> int:
        """Return the instant a list shows: its date, or its arrival where it has none."""
        return self.ts if self.date is None else self.date


class Match(models.Model):
    """A message that a filter matched; listed once it has a card, and until it is gone.

    ``matched_at`` is the first instant at which it did; in a live filter, that at which it last
    began to.  ``gone_at``: since then it does not match that live filter.  ``told_at``: when the
    card and the reasons (``because``) were last copied; null while they are to be, again.
    """

    filter = models.ForeignKey(Filter, models.CASCADE, related_name="matches")
    msgid = models.TextField()
    audience = models.CharField(max_length=200)
    matched_at = models.BigIntegerField()
    found_at = models.BigIntegerField()
    shown_at = models.BigIntegerField()
    disjunct = models.IntegerField(default=0)
    evidence = models.JSONField(default=list)
    because = models.JSONField(default=list)
    reason = models.TextField(default="", blank=True)
    card = models.ForeignKey(Card, models.SET_NULL, null=True, related_name="matches")
    told_at = models.BigIntegerField(null=True, blank=True)
    read_at = models.BigIntegerField(null=True, blank=True)
    gone_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        """Each message once per filter."""

        verbose_name_plural = "matches"
        constraints = [models.UniqueConstraint(fields=["filter", "msgid"], name="match_once")]
        indexes = [
            models.Index(fields=["filter", "read_at"], name="match_unread"),
            models.Index(fields=["msgid"], name="match_msgid"),
            models.Index(
                fields=["id"], condition=Q(card=None) | Q(told_at=None), name="match_to_be_told"
            ),
        ]

    def __str__(self) -> str:
        return self.msgid


class PendingAnnotation(models.Model):
    """What a person said of a message, kept here until it is in the annotations table."""

    annid = models.CharField(max_length=40, unique=True)
    msgid = models.TextField()
    owner = models.ForeignKey(User, models.CASCADE, related_name="annotations")
    kind = models.CharField(max_length=40)
    value = models.TextField(null=True, blank=True)
    number = models.FloatField(null=True, blank=True)
    audience = models.CharField(max_length=200)
    created = models.BigIntegerField()
    appended_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        """Those that wait are found by an index of their own."""

        indexes = [
            models.Index(fields=["id"], condition=Q(appended_at=None), name="annotation_waits")
        ]

    def __str__(self) -> str:
        return f"{self.kind} on {self.msgid}"

    def as_annotation(self) -> Annotation:
        """Return the row that is to be appended."""
        return Annotation(
            annid=self.annid,
            msgid=self.msgid,
            owner=self.owner.get_username(),
            kind=self.kind,
            value=self.value,
            number=self.number,
            audience=self.audience,
        )
