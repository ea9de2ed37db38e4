"""Where matches are delivered, how far each destination has been served, and what was answered.

Instants are microseconds (tapestry.core.clock).  A match gets its position in the release
sequence when it is released to its owner (filters.runs.store.release); a position is a log offset.
"""

from __future__ import annotations

import secrets
import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.urls import reverse

from filters.authoring.models import Filter
from filters.people.models import User
from filters.runs.models import SingleRow
from filters.sources.models import Source

if TYPE_CHECKING:
    from filters.delivery.ways.way import Way

TIMELINESS, TIMED_AT = "timeliness", "timed_at"
"""The settings that say at which times a digest comes, without it at once, and since when."""


class Address(models.Model):
    """An address that mail may be sent to, once its owner has confirmed it.

    ``problem`` says why nothing is sent to it for now: it bounced, or its server refused it.
    ``bounced`` names the last deliveries that came back, ``warning`` says why the newest did.
    It is ``proven`` to be that of its account where its person was signed in as they confirmed it,
    by a link that came by mail: not on a page, for want of a mail server, nor by somebody else.
    One ``confirmed_here``, on such a page, is confirmed only while there is no mail server.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="mail_addresses")
    email = models.EmailField(max_length=254)
    asked_at = models.BigIntegerField(default=0)
    confirmed_at = models.BigIntegerField(null=True, blank=True)
    confirmed_here = models.BooleanField(default=False)
    proven = models.BooleanField(default=True)
    problem = models.TextField(default="", blank=True)
    warning = models.TextField(default="", blank=True)
    bounced = models.JSONField(default=list, blank=True, editable=False)

    class Meta:
        verbose_name_plural = "addresses"
        constraints = [models.UniqueConstraint(fields=["owner", "email"], name="address_once")]

    def __str__(self) -> str:
        return self.email


def kinds() -> list[tuple[str, str]]:
    """Return the kinds of destinations, with what they are called."""
    from filters.delivery.ways.table import WAYS

    return [(kind, way.title) for kind, way in WAYS.items()]


class Destination(models.Model):
    """A place that a person's matches are delivered to, and how far that has come.

    ``cursor`` is the position up to which all is delivered; ``latest`` the last position that
    concerns it.  While a delivery is under way, or is to be tried again, it is
    of the matches up to ``claimed_until``: the same ones however often it is tried.  ``holder``
    names the process that is at it (filters.delivery.dispatch.holder).  It is due at ``due_at``.
    ``turned_on_at`` is when its owner last did so: links to unsubscribe of before have ended.
    ``settings`` are those of its kind; ``secret`` is encrypted
    (filters.site.work.crypto.encryption), as is ``former_secret``, which counts ``former_until``:
    the latest, with blanks between.
    A mailbox may be that of a ``source`` of its owner: it is logged in to as that is.
    With ``all_filters`` it takes the matches of all filters of its owner after ``all_since``;
    without, those of its subscriptions.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="destinations")
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=10, choices=kinds)
    name = models.CharField(max_length=100)
    address = models.ForeignKey(
        Address, models.CASCADE, null=True, blank=True, related_name="destinations"
    )
    settings = models.JSONField(default=dict, blank=True)
    source = models.ForeignKey(
        Source, models.SET_NULL, null=True, blank=True, related_name="destinations"
    )
    secret = models.TextField(default="", blank=True)
    former_secret = models.TextField(default="", blank=True)
    former_until = models.BigIntegerField(null=True, blank=True)
    active = models.BooleanField(default=True)
    turned_on_at = models.BigIntegerField(default=0, editable=False)
    all_filters = models.BooleanField(default=True)
    all_since = models.BigIntegerField(default=0)
    cursor = models.BigIntegerField(default=0)
    latest = models.BigIntegerField(default=0)
    claimed_until = models.BigIntegerField(null=True, blank=True)
    holder = models.CharField(max_length=80, default="", blank=True)
    due_at = models.BigIntegerField(null=True, blank=True)
    failures = models.IntegerField(default=0)
    failing_since = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=Q(active=True, due_at__isnull=False),
                name="destination_due",
            ),
            models.Index(fields=["holder"], condition=~Q(holder=""), name="destination_held"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("destination", args=[self.pk])

    @property
    def way(self) -> Way:
        """The way by which it is delivered to: what its kind declares."""
        from filters.delivery.ways.table import WAYS

        return WAYS[self.kind]

    @property
    def where(self) -> str:
        """Where it delivers to, shortly: an address, a mailbox, a host."""
        return self.way.form.where(self)

    @property
    def mailbox(self) -> tuple[str, str]:
        """The host and user of a mailbox: those of its source, if it has one."""
        if self.source is not None:
            return self.source.host, self.source.user
        return str(self.settings.get("host", "")), str(self.settings.get("user", ""))


class Subscription(models.Model):
    """A filter whose matches go to a destination: those released after ``since``."""

    destination = models.ForeignKey(Destination, models.CASCADE, related_name="subscriptions")
    filter = models.ForeignKey(Filter, models.CASCADE, related_name="subscriptions")
    since = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["destination", "filter"], name="subscription_once")
        ]

    def __str__(self) -> str:
        return f"{self.filter} to {self.destination}"


class Delivery(models.Model):
    """An attempt to deliver a batch of matches, and what was answered; the newest are kept.

    A sample that its owner asked for is one too (filters.delivery.samples).
    """

    class State(models.TextChoices):
        DELIVERED = "delivered", "delivered"
        RETRY = "retry", "to be tried again"
        REFUSED = "refused", "refused"

    destination = models.ForeignKey(Destination, models.CASCADE, related_name="deliveries")
    key = models.CharField(max_length=100)
    at = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=State.choices)
    matches = models.IntegerField(default=0)
    by_filter = models.JSONField(default=dict, blank=True)
    answer = models.TextField(default="", blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["destination", "-id"], name="delivery_latest"),
            models.Index(fields=["key"], name="delivery_key"),
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.state}"


class BounceMailbox(SingleRow):
    """How far the mailbox of bounces (TAPESTRY_BOUNCES) has been read: to a UID of a folder.

    ``address`` is its URL without the password; ``error`` says why it could not be read.
    """

    address = models.TextField(default="", blank=True)
    uidvalidity = models.BigIntegerField(default=0)
    uid = models.BigIntegerField(default=0)
    read_at = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(default="", blank=True)

    class Meta:
        verbose_name_plural = "bounce mailbox"

    def __str__(self) -> str:
        return self.address


def new_feed_token() -> str:
    """Return the secret part of a feed's address."""
    return secrets.token_urlsafe(24)


class Feed(models.Model):
    """The secret address of an Atom feed: of one filter, or of all filters of its owner.

    Whoever has the address may read the feed (a capability URL).
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="feeds")
    filter = models.ForeignKey(Filter, models.CASCADE, null=True, blank=True, related_name="feeds")
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    token = models.CharField(max_length=40, unique=True, default=new_feed_token)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["filter"], name="feed_of_filter"),
            models.UniqueConstraint(fields=["owner"], condition=Q(filter=None), name="feed_of_all"),
        ]

    def __str__(self) -> str:
        return f"feed of {self.filter or self.owner}"

    def get_absolute_url(self) -> str:
        return reverse("feed", args=[self.token])


class KeptMail(models.Model):
    """Mail that this site wrote to a person, kept for a page: no mail server sends it.

    ``audiences``, a line for each, are those that its owner saw then: it may quote mail of them.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="kept_mail")
    message_id = models.TextField()
    recipient = models.CharField(max_length=254)
    subject = models.TextField(default="", blank=True)
    raw = models.BinaryField()
    at = models.BigIntegerField()
    audiences = models.TextField(default="", blank=True)

    class Meta:
        verbose_name_plural = "kept mail"
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "message_id"], name="kept_mail_once")
        ]

    def __str__(self) -> str:
        return self.subject
