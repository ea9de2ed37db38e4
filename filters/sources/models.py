"""Tables of sources: where mail is pulled from, the folders there, and how each pull went."""

from __future__ import annotations

import json
from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from filters.authoring.models import Filter
from filters.people.models import User
from filters.people.names.known_audiences import validate_known
from tapestry.core.clock import MINUTE
from tapestry.servers.account import Account

OVERDUE = 30 * MINUTE
"""How long a source may wait for its turn before people are told."""


WORDS = {
    "imap": ("mail", "folders"),
    "nntp": ("news", "groups"),
    "carddav": ("contacts", "address books"),
    "caldav": ("meetings", "calendars"),
}
"""By kind of source, what comes from it, and what that is in."""


class Source(models.Model):
    """A server that somebody's mail is pulled from, or their contacts or calendars.

    ``secret`` and ``access_token`` (XOAUTH2) are encrypted (filters.site.work.crypto.encryption).
    ``folder_patterns`` are names of folders, or names and wildmats of newsgroups (RFC 3977,
    section 4), or paths of address books or calendars, which are looked for at ``path``.
    The source is pulled at ``due_at``, and again after ``every`` seconds.
    ``failures`` counts since the last success; ``error`` and ``hint`` describe the last failure.
    ``listened_at`` is when a process last reported that it watches the mailbox (IDLE).
    All that lay in its folders at ``complete_until`` is here: the start of a pull that ended, or
    what the server said last in an IDLE (a punctuation); null before the first such pull.
    ``appended_until`` is the ``ts`` of the last rows that came from it.
    ``may_act``: its owner allows their filters to act in it (``both_ways.acting``), the next time
    at ``acts_due_at``; ``acts_failures`` counts since that last went well, ``acts_error`` says why.
    ``syncs_flags``: read, starred and tags are the same there and here (``both_ways.flag_sync``).
    ``flags_state`` has UIDVALIDITY and HIGHESTMODSEQ by folder, as they were looked at last, and
    when.
    """

    class Kind(models.TextChoices):
        IMAP = "imap", "a mailbox (IMAP)"
        NNTP = "nntp", "news (NNTP)"
        CARDDAV = "carddav", "contacts (CardDAV)"
        CALDAV = "caldav", "a calendar (CalDAV)"

    class Security(models.TextChoices):
        TLS = "tls", "TLS"
        STARTTLS = "starttls", "STARTTLS"
        NONE = "none", "none"

    class Method(models.TextChoices):
        PASSWORD = "password", "a password or an app password"
        XOAUTH2 = "xoauth2", "a token (XOAUTH2)"

    owner = models.ForeignKey(User, models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    host = models.CharField(max_length=253)
    port = models.IntegerField(validators=[MinValueValidator(1), MaxValueValidator(65535)])
    security = models.CharField(max_length=10, choices=Security.choices, default=Security.TLS)
    path = models.CharField(max_length=500, default="", blank=True)
    user = models.CharField(max_length=254, default="", blank=True)
    method = models.CharField(max_length=10, choices=Method.choices, default=Method.PASSWORD)
    secret = models.TextField(default="", blank=True)
    token_url = models.URLField(default="", blank=True)
    client_id = models.CharField(max_length=200, default="", blank=True)
    access_token = models.TextField(default="", blank=True)
    access_token_until = models.BigIntegerField(default=0)
    audience = models.CharField(max_length=200)
    folder_patterns = models.JSONField(default=list, blank=True)
    every = models.IntegerField(default=60, validators=[MinValueValidator(10)])
    active = models.BooleanField(default=False)
    due_at = models.BigIntegerField(default=0)
    failures = models.IntegerField(default=0)
    error = models.TextField(default="", blank=True)
    hint = models.TextField(default="", blank=True)
    pulled_at = models.BigIntegerField(null=True, blank=True)
    listened_at = models.BigIntegerField(null=True, blank=True)
    complete_until = models.BigIntegerField(null=True, blank=True)
    appended_until = models.BigIntegerField(null=True, blank=True)
    may_act = models.BooleanField(default=False)
    acts_due_at = models.BigIntegerField(default=0)
    acts_failures = models.IntegerField(default=0)
    acts_error = models.TextField(default="", blank=True)
    syncs_flags = models.BooleanField(default=False)
    flags_due_at = models.BigIntegerField(default=0)
    flags_state = models.JSONField(default=dict, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["host", "user", "pk"]
        permissions = [("publish", "Can publish mail to everybody and to groups, by sources")]
        indexes = [models.Index(fields=["due_at"], condition=Q(active=True), name="source_due")]

    def __str__(self) -> str:
        return f"{self.user} at {self.host}" if self.user else self.host

    def save(self, *args: Any, **options: Any) -> None:
        """Save; raise ValidationError if its audience is another, which nobody is of."""
        fields = options.get("update_fields")
        if fields is None or "audience" in fields:
            before = Source.objects.filter(pk=self.pk).values_list("audience", flat=True)
            if self.audience not in before:  # the pull pauses one whose group is gone
                validate_known(self.audience)
        super().save(*args, **options)

    def get_absolute_url(self) -> str:
        return reverse("source", args=[self.pk])

    @property
    def address(self) -> str:
        """The URL of its account, without its secret."""
        security: Any = self.security
        place = (self.kind, self.host, self.port, security)
        return Account(*place, self.user, path=self.path).address

    @property
    def is_news(self) -> bool:
        return self.kind == self.Kind.NNTP

    @property
    def is_mailbox(self) -> bool:
        return self.kind == self.Kind.IMAP

    @property
    def has_mail(self) -> bool:
        """Whether messages come from it, and no contacts or meetings."""
        return self.is_mailbox or self.is_news

    @property
    def content(self) -> str:
        """What comes from it, in a word."""
        return WORDS[self.kind][0]

    @property
    def places(self) -> str:
        """What that is in, in the plural."""
        return WORDS[self.kind][1]


class Folder(models.Model):
    """A folder of a source, as last seen: a mailbox, a newsgroup, an address book or a calendar.

    ``read`` and ``added`` count the messages of all pulls.  While a pull has left something for
    the next, ``reached`` of about ``total`` messages have been read.  Of address books and
    calendars ``mark`` is their sync token or ctag, and all was read anew at ``read_anew_at``.
    """

    source = models.ForeignKey(Source, models.CASCADE, related_name="folders")
    name = models.CharField(max_length=500)
    read = models.BigIntegerField(default=0)
    added = models.BigIntegerField(default=0)
    reached = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True, blank=True)
    checked_at = models.BigIntegerField(null=True, blank=True)
    added_at = models.BigIntegerField(null=True, blank=True)
    mark = models.TextField(default="", blank=True)
    read_anew_at = models.BigIntegerField(default=0)
    error = models.TextField(default="", blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="folder_once")]

    def __str__(self) -> str:
        return self.name


class SyncedResource(models.Model):
    """A card of an address book or an event of a calendar, as it was read last.

    ``entries`` are the annotations that were made of it: annid, kind, value and start of each.
    """

    folder = models.ForeignKey(Folder, models.CASCADE, db_index=False, related_name="resources")
    href = models.TextField()
    etag = models.TextField(default="", blank=True)
    entries = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["folder", "href"], name="synced_resource_once")
        ]

    def __str__(self) -> str:
        return self.href


class SyncState(models.Model):
    """What is known of a folder beside its cursor (tapestry.ingest.sync_state).

    Like the cursor it belongs to an account and an audience, whichever sources read the folder, and
    stays when they go: what a server withheld is behind the cursor.
    """

    account = models.TextField()
    audience = models.CharField(max_length=200)
    folder = models.CharField(max_length=500)
    state = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["audience", "account", "folder"], name="sync_state_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.folder} of {self.account} for {self.audience}"

    @property
    def content(self) -> dict[str, Any]:
        """The state; it is stored as text if it has characters that PostgreSQL does not store."""
        stored: dict[str, Any] = self.state
        return json.loads(stored["text"]) if "text" in stored else stored


class Pull(models.Model):
    """A pull of a source that brought something or failed: instants, counts and the error.

    ``skipped`` are our own deliveries, which are not taken in.
    """

    source = models.ForeignKey(Source, models.CASCADE, related_name="pulls")
    started_at = models.BigIntegerField()
    ended_at = models.BigIntegerField()
    read = models.IntegerField(default=0)
    added = models.IntegerField(default=0)
    duplicates = models.IntegerField(default=0)
    broken = models.IntegerField(default=0)
    skipped = models.IntegerField(default=0)
    error = models.TextField(default="", blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["source", "-id"], name="pull_latest")]

    def __str__(self) -> str:
        return self.error or f"{self.added} added"


class Trial(models.Model):
    """A connection that a person asked to be tried, and what came of it; the worker tries it.

    ``subject`` says what was asked, such as ``test:7``; ``question`` is what the worker needs to
    know, encrypted, and dropped at the end.  ``answer`` is for the page; if ``error`` is empty, all
    went well.  A person has one trial at a time.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="trials")
    subject = models.CharField(max_length=100)
    question = models.TextField(default="", blank=True)
    asked_at = models.BigIntegerField()
    begun_at = models.BigIntegerField(null=True, blank=True)
    ended_at = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    hint = models.TextField(default="", blank=True)
    answer = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner"], condition=Q(ended_at=None), name="one_trial_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return self.subject

    def get_absolute_url(self) -> str:
        return reverse("trial", args=[self.pk])

    @property
    def is_search(self) -> bool:
        """Whether a server is looked for, and none that was named is tried."""
        return self.subject.startswith("find:")

    @property
    def is_sample(self) -> bool:
        """Whether something is sent, and no server tried alone."""
        return self.subject.startswith("sample:")


class MailboxAct(models.Model):
    """What a filter is to do, or has done, with a message in its owner's own mailbox.

    An outbox: stored in the transaction of the match, done by the worker (``both_ways.acting``).
    ``acts`` names it, with blanks between.  ``wish`` says whether it is to be done or undone, and
    ``revision`` counts its changes.  ``ended_at`` is when that was so, null while it waits, and
    ``outcome`` says what could not be done.  ``source`` and ``folder`` are where the message was
    when it came, null and empty until that is looked up.  ``place`` is where it was before anything
    was done (tapestry.deliver.imap.acts), stored before that (a write-ahead log).  ``filter`` is
    null of what is still to be undone of a filter that was deleted.
    """

    class Wish(models.TextChoices):
        """Whether something is to be done, or to be taken back."""

        DO = "do", "do"
        UNDO = "undo", "undo"

    PAUSED = "Its mailbox is paused, or no filter may act in it any more."
    """The outcome of what goes on as soon as its mailbox does."""

    owner = models.ForeignKey(User, models.CASCADE, db_index=False, related_name="mailbox_acts")
    filter = models.ForeignKey(
        Filter, models.SET_NULL, null=True, blank=True, related_name="mailbox_acts"
    )
    msgid = models.TextField()
    acts = models.CharField(max_length=100)
    wish = models.CharField(max_length=4, choices=Wish.choices, default=Wish.DO)
    revision = models.IntegerField(default=0)
    ended_at = models.BigIntegerField(null=True, blank=True)
    outcome = models.TextField(default="", blank=True)
    source = models.ForeignKey(Source, models.SET_NULL, null=True, related_name="acts")
    folder = models.TextField(default="", blank=True)
    place = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["filter", "msgid"], name="mailbox_act_once")]
        indexes = [
            models.Index(fields=["source"], condition=Q(ended_at=None), name="mailbox_act_waiting"),
            models.Index(fields=["owner", "msgid"], name="mailbox_act_message"),
        ]

    def __str__(self) -> str:
        return f"{self.wish} {self.acts} with {self.msgid}"


class SyncedFlags(models.Model):
    """Flags of a message in a mailbox as they were last the same there and here (the base).

    ``uid`` is one of the UIDVALIDITY that ``Source.flags_state`` has for the folder.  ``keywords``
    are in small letters, null until they were merged once (filters.sources.both_ways.tag_sync).
    """

    source = models.ForeignKey(Source, models.CASCADE, db_index=False, related_name="flags")
    folder = models.TextField()
    uid = models.BigIntegerField()
    msgid = models.TextField()
    is_seen = models.BooleanField(default=False)
    is_flagged = models.BooleanField(default=False)
    keywords = models.JSONField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "synced flags"
        constraints = [
            models.UniqueConstraint(fields=["source", "folder", "uid"], name="synced_flags_once")
        ]

    def __str__(self) -> str:
        return f"{self.folder};uid={self.uid}"
