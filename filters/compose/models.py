"""Mail that people write: drafts, the outbox of what is being sent, and servers of their own.

Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

import uuid

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from filters.people.models import User
from filters.sources.models import Source
from tapestry.core.clock import wall_clock


class SmtpAccount(models.Model):
    """The server by which a person's mail is sent instead of that of the site.

    ``secret`` is encrypted (filters.site.work.crypto.encryption).
    """

    owner = models.OneToOneField(User, models.CASCADE, related_name="smtp_account")
    host = models.CharField(max_length=253)
    port = models.IntegerField(validators=[MinValueValidator(1), MaxValueValidator(65535)])
    security = models.CharField(
        max_length=10, choices=Source.Security.choices, default=Source.Security.TLS
    )
    user = models.CharField(max_length=254, default="", blank=True)
    secret = models.TextField(default="", blank=True)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.user} at {self.host}" if self.user else self.host


class OutgoingMessage(models.Model):
    """A message that a person writes, has had sent, or wanted to.

    A draft has the texts as they were typed; those of one that is ``formatted`` have marks of
    Markdown, and are sent as HTML, too.  ``version`` counts its changes; ``editor`` names the
    window that made the last.  ``parent`` is the message that it answers or forwards, of which
    ``parent_audience`` is the copy; ``attach_parent`` says to attach that as it came.
    ``remind_at`` is when its writer is reminded of it if nobody has answered, and after
    ``remind_every`` so many days again (filters.authoring.reminders).

    Once it is to be sent, ``raw`` are its bytes, the same however often it is tried, and it is
    tried from ``due_at`` on, not before ``send_at`` if its writer chose a time, news by
    ``news_source``.  ``pending`` are the addresses that no
    server has accepted yet, ``refused`` says by address why one was refused.  ``holder`` names the
    process that is at it.  ``unanswered_at`` is when it was handed to a server that has not
    answered: that may have taken it.  A draft that was made of it again keeps ``raw`` and
    ``message_id``.
    ``posted_at``, ``sent_at``, ``stored_at`` and ``filed_at`` are when it was accepted by the news
    server, by the mail server, appended to the tables (an instant of these), and put into the
    folder of what was sent: the steps are in this order, and each is done once.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        QUEUED = "queued", "sending"
        SENT = "sent", "sent"
        REFUSED = "refused", "not sent"

    owner = models.ForeignKey(User, models.CASCADE, related_name="outgoing_messages")
    uid = models.UUIDField(default=uuid.uuid4)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    version = models.IntegerField(default=0)
    editor = models.CharField(max_length=36, default="", blank=True)
    changed_at = models.BigIntegerField()

    sender = models.CharField(max_length=254, default="", blank=True)
    to = models.TextField(default="", blank=True)
    cc = models.TextField(default="", blank=True)
    bcc = models.TextField(default="", blank=True)
    newsgroups = models.TextField(default="", blank=True)
    subject = models.TextField(default="", blank=True)
    body = models.TextField(default="", blank=True)
    formatted = models.BooleanField(default=False)
    parent = models.TextField(default="", blank=True)
    parent_audience = models.CharField(max_length=200, default="", blank=True)
    is_forward = models.BooleanField(default=False)
    attach_parent = models.BooleanField(default=False)

    news_source = models.ForeignKey(Source, models.SET_NULL, null=True, blank=True)
    message_id = models.CharField(max_length=200, default="", blank=True)
    raw = models.BinaryField(null=True, blank=True)
    pending = models.JSONField(default=list, blank=True)
    refused = models.JSONField(default=dict, blank=True)
    due_at = models.BigIntegerField(null=True, blank=True)
    send_at = models.BigIntegerField(null=True, blank=True)
    remind_at = models.BigIntegerField(null=True, blank=True)
    remind_every = models.PositiveSmallIntegerField(default=0)
    unanswered_at = models.BigIntegerField(null=True, blank=True)
    holder = models.CharField(max_length=80, default="", blank=True)
    failures = models.IntegerField(default=0)
    failing_since = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    posted_at = models.BigIntegerField(null=True, blank=True)
    sent_at = models.BigIntegerField(null=True, blank=True)
    stored_at = models.BigIntegerField(null=True, blank=True)
    filed_at = models.BigIntegerField(null=True, blank=True)
    filed_in = models.TextField(default="", blank=True)

    class Meta:
        ordering = ["-changed_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["owner", "uid"], name="outgoing_once")]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="outgoing_due")
        ]

    def __str__(self) -> str:
        return self.subject or "(no subject)"

    def get_absolute_url(self) -> str:
        return reverse("outgoing", args=[self.uid])

    @property
    def is_draft(self) -> bool:
        return self.state == self.State.DRAFT

    @property
    def is_scheduled(self) -> bool:
        """Tell whether it waits for the time that its writer chose."""
        return self.state == self.State.QUEUED and (self.send_at or 0) > wall_clock()

    @property
    def is_under_way(self) -> bool:
        """Tell whether a page about it should ask again soon."""
        return (self.state == self.State.QUEUED and not self.is_scheduled) or (
            self.state == self.State.SENT and self.due_at is not None
        )


class Signature(models.Model):
    """The signature of what a person writes from an address."""

    owner = models.ForeignKey(User, models.CASCADE, related_name="signatures")
    email = models.CharField(max_length=254)
    text = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "email"], name="signature_once")]

    def __str__(self) -> str:
        return self.email


class Template(models.Model):
    """A text that a person has stored to begin messages with."""

    owner = models.ForeignKey(User, models.CASCADE, related_name="templates")
    name = models.CharField(max_length=100)
    text = models.TextField()

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class Attachment(models.Model):
    """A file that is attached to a draft; it is deleted once the message is sent."""

    message = models.ForeignKey(OutgoingMessage, models.CASCADE, related_name="attachments")
    name = models.CharField(max_length=200)
    content_type = models.CharField(max_length=100, default="application/octet-stream")
    size = models.IntegerField()
    content = models.BinaryField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name
