"""Filters, those that they refer to, and the windows that older texts still have to run.

A filter is a continuous query: written once, evaluated over all that comes.
Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from filters.people.models import User, validate_timeliness
from filters.runs.models import Clock
from tapestry.core.clock import BEGINNING
from tapestry.deliver.timing.timeliness import AFTER
from tapestry.query.tql.own_aggregates import LONGEST_NAME

filter_name = RegexValidator(
    r"\A[a-z0-9]+(-[a-z0-9]+)*\Z",
    "A short name is small letters and digits, with single hyphens between: jones-replies.",
)


LONGEST_TITLE = 100

LONGEST_TAG = 100
"""Characters of a tag."""

MAILBOX_ACTS = {
    "flag": "flag it in the mailbox",
    "seen": "mark it read in the mailbox",
    "tag": "tag it in the mailbox",
    "move": "move it to a folder of the mailbox",
    "trash": "move it to Trash in the mailbox",
}
"""What a filter may do in its owner's own mailbox (filters.sources.both_ways.acting), by name."""

ACTS = {
    "read": "mark it read",
    "star": "star it",
    "label": "tag it",
    "top": "put it at the top of the inbox",
    "skip": "keep it out of the inbox",
    "done": "file it as done",
    **MAILBOX_ACTS,
}
"""What a filter may do with a message that it finds, by name."""

ACTS_A_DAY, MOST_ACTS_A_DAY = 500, 1_000_000
"""Messages that a filter acts on within a day, unless its owner allows more, and up to what."""


READY_MADE = ("waiting-for-an-answer", "to-be-answered", "reminders")
"""Short names of the filters that people are given (filters.authoring.ready_made)."""


def acts_words(names: Collection[str], tag: str = "") -> str:
    """Return acts as an order; empty without any.  ``tag`` is that of ``label``.

    >>> acts_words(["star", "label", "read"], "todo")
    'mark it read, star it and tag it “todo”'
    """
    orders = ACTS | ({"label": f"tag it “{tag}”"} if tag else {})
    *most, last = [words for name, words in orders.items() if name in names] or [""]
    return f"{', '.join(most)} and {last}" if most else last


_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that let a text appear in another order than it is written in."""


def filter_title(title: str) -> None:
    """Refuse a title in which nothing can be seen, or that would spoil the line it stands in.

    Raises ValidationError.
    """
    if not _is_seen(title):
        raise ValidationError("Write a name that can be seen: Replies by Jones.")
    if any(map(_spoils_line, title)):
        raise ValidationError("Write the name in one line, without control characters.")


def as_title(text: str) -> str:
    r"""Return a text as a title may be: in one line, not too long; "" if nothing of it is seen.

    >>> as_title('about "two\n\u202elines"')
    'about "two lines"'
    """
    blank = "".join(" " if _spoils_line(character) else character for character in text)
    line = " ".join(blank.split())
    if len(line) > LONGEST_TITLE:
        line = f"{line[: LONGEST_TITLE - 1].rstrip()}…"
    return line if _is_seen(line) else ""


def _is_seen(text: str) -> bool:
    return any(unicodedata.category(character)[0] in "LNPS" for character in text)


def _spoils_line(character: str) -> bool:
    """Tell whether a character ends a line, controls something, or lets a text be reordered."""
    return character in _REORDERING or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


class Filter(models.Model):
    """A filter: its text, who wrote it, and how far it has been run.

    ``name`` is its slug, by which addresses and other filters refer to it; ``title`` is what
    people call it, and empty if that is the name.
    ``tql`` is what runs: the text as last compiled, with the filters that it refers to
    expanded.  ``display_tql`` names the filters of others instead, for the owner to see; it is
    empty if there are none.  ``since`` is the watermark: the end of the last window.  While the
    filter is ``enrolled``, that of the ``part`` of SharedWindow that it was last enrolled in counts
    instead (filters.runs.store.shared_window).
    ``begun_at`` is where the clock stood when its windows began: until it has been run so far,
    what it finds in existing mail is not known.
    What matched up to ``existing_until`` arrives read: it was there before the filter was written,
    or, of a changed one, before that was last run; null is of one without existing mail.
    Of one that waits, ``waits_from`` is when it was first known how far sources are complete, and
    ``clock`` is its ``now()`` at ``since``, and ``start_clock`` that at T0, null if it is T0.
    ``folds_before``: what it found in mail that matched up to then is one line of the inbox until
    ``unfolded_at``; null folds nothing.
    ``proven``: its last run by itself took little time (tapestry.run.unproven): ``seconds``.
    ``start`` is T0: what matched then is not delivered; null takes existing mail.  What matches
    after ``end`` is not kept; null has no end.  ``revision`` counts changes of the text: a run
    of an older text cannot store its matches.
    ``timeliness`` says when matches are shown and sent; empty is its owner's default.  With
    ``while_unread`` they are held while the filter has any that are unread.
    ``acts`` names what it does with what it finds, with blanks between (``ACTS``), from the instant
    ``acts_since`` on, null with what it had found too: to ``acts_a_day`` messages in 24 hours at
    most.  ``acts_stopped_at`` is when that was last reached, and ``acts_left_out`` how many
    messages were left as they were since then (filters.runs.store.acts).  It tags with
    ``acts_label``; in a mailbox with ``acts_keyword``, and it moves to ``acts_folder``.
    """

    class Visibility(models.TextChoices):
        """Who may see the filter itself; what it finds is always its owner's alone."""

        PRIVATE = "private", "only me"
        SHARED = "shared", "everyone here"

    class Mode(models.TextChoices):
        """Whether a message stays once it has matched."""

        KEEP = "keep", "keep what matched"
        LIVE = "live", "only while it matches"
        WAIT = "wait", "keep what matched, and wait for my sources"

    owner = models.ForeignKey(User, models.CASCADE, related_name="filters")
    name = models.CharField(max_length=60, validators=[filter_name])
    title = models.CharField(
        max_length=LONGEST_TITLE, default="", blank=True, validators=[filter_title]
    )
    text = models.TextField(max_length=65536)
    phrase = models.TextField(default="", blank=True)
    tql = models.TextField(default="", blank=True)
    display_tql = models.TextField(default="", blank=True)
    visibility = models.CharField(
        max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE
    )
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.KEEP)
    timeliness = models.CharField(
        max_length=60, default="", blank=True, validators=[validate_timeliness]
    )
    while_unread = models.BooleanField("not while it has unread ones", default=False)
    acts = models.CharField(max_length=100, default="", blank=True)
    acts_label = models.CharField(max_length=LONGEST_TAG, default="", blank=True)
    acts_keyword = models.CharField(max_length=64, default="", blank=True)
    acts_folder = models.CharField(max_length=200, default="", blank=True)
    acts_since = models.BigIntegerField(null=True, blank=True, editable=False)
    acts_a_day = models.PositiveIntegerField(
        default=ACTS_A_DAY, validators=[MinValueValidator(1), MaxValueValidator(MOST_ACTS_A_DAY)]
    )
    acts_stopped_at = models.BigIntegerField(null=True, blank=True, editable=False)
    acts_left_out = models.PositiveIntegerField(default=0, editable=False)
    active = models.BooleanField(default=True)
    revision = models.IntegerField(default=0)
    start = models.BigIntegerField(null=True, blank=True)
    end = models.BigIntegerField(null=True, blank=True)
    since = models.BigIntegerField(default=BEGINNING)
    begun_at = models.BigIntegerField(default=BEGINNING, editable=False)
    existing_until = models.BigIntegerField(null=True, blank=True, editable=False)
    folds_before = models.BigIntegerField(null=True, blank=True, editable=False)
    unfolded_at = models.BigIntegerField(null=True, blank=True, editable=False)
    waits_from = models.BigIntegerField(null=True, blank=True, editable=False)
    clock = models.BigIntegerField(default=BEGINNING, editable=False)
    start_clock = models.BigIntegerField(null=True, blank=True, editable=False)
    enrolled = models.BooleanField(default=False, editable=False)
    part = models.SmallIntegerField(default=0, editable=False)
    proven = models.BooleanField(default=False, editable=False)
    seconds = models.FloatField(default=0, editable=False)
    ran_at = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="filter_name_once")]
        indexes = [
            models.Index(
                fields=["since"], condition=Q(active=True, enrolled=False), name="filter_own_window"
            ),
            models.Index(
                fields=["end"], condition=Q(active=True, end__isnull=False), name="filter_ends"
            ),
            models.Index(fields=["since"], condition=~Q(error=""), name="filter_failed"),
            models.Index(fields=["id"], condition=Q(active=False), name="filter_paused"),
            models.Index(fields=["owner"], condition=~Q(acts=""), name="filter_acts"),
        ]

    def __str__(self) -> str:
        return f"{self.owner.get_username()}.{self.name}"

    def get_absolute_url(self) -> str:
        return reverse("filter", args=[self.name])

    def begin(self, start: int | None) -> None:
        """Let the next window be the first; ``start`` is T0, None takes existing mail."""
        ran = max(self.since, self.existing_until or BEGINNING)
        self.start = start
        self.since = BEGINNING if start is None else start
        self.begun_at = self.since if start is not None else Clock.instant()
        existing_until = ran if ran > BEGINNING else self.begun_at
        self.existing_until = existing_until if start is None else None
        self.proven = False
        self.waits_from, self.clock, self.start_clock = None, self.since, None

    def fold(self) -> None:
        """Let what it finds in the mail that is here be one line of the inbox until it is opened.

        Not where it shows each message so long after it came: that is not of before.
        """
        waits = self.timeliness.startswith(AFTER)
        self.folds_before = None if waits or self.start is not None else self.begun_at
        self.unfolded_at = None

    @property
    def is_searching(self) -> bool:
        """Tell whether a run still has to look through the mail that was here when it began."""
        runs = self.active and not self.error and not self.enrolled
        return runs and self.since < self.begun_at

    @property
    def has_ended(self) -> bool:
        """Tell whether it was run to its end, and stopped there."""
        return not self.active and self.end is not None and self.since >= self.end

    @property
    def is_ready_made(self) -> bool:
        """Tell whether its owner was given it, and did not write it."""
        return self.name in READY_MADE

    @property
    def is_live(self) -> bool:
        return self.mode == self.Mode.LIVE

    @property
    def acts_words(self) -> str:
        """Return what it does with what it finds, as an order; empty if it only shows that."""
        return acts_words(self.acts.split(), self.acts_label)

    @property
    def reference_name(self) -> str:
        """Return the name under which references to it are stored."""
        return self.name

    @property
    def display_name(self) -> str:
        """Return what people call it."""
        return self.title or self.name

    @property
    def display_text(self) -> str:
        """Return the canonical phrase, or TQL where it has none, as its owner may see it."""
        return self.phrase or self.display_tql or self.tql or self.text

    @property
    def explanation(self) -> str:
        """Return the explanation of every match; if empty, that of the disjunct serves."""
        return self.display_tql and self.display_text


class Aggregate(models.Model):
    """An aggregate that a person has defined in SQL, for filters to use by its name.

    ``text`` is its definition as written, ``definition`` the canonical text of that
    (tapestry.query.tree.definitions), which filters take from it.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="aggregates")
    name = models.CharField(max_length=LONGEST_NAME)
    text = models.TextField(max_length=65536)
    definition = models.TextField()
    visibility = models.CharField(
        max_length=10, choices=Filter.Visibility.choices, default=Filter.Visibility.PRIVATE
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="aggregate_name_once")
        ]

    def __str__(self) -> str:
        return f"{self.owner.get_username()}.{self.reference_name}"

    @property
    def reference_name(self) -> str:
        """Return the name under which references to it are stored."""
        return f"{self.name}()"


class Reference(models.Model):
    """A filter's reference to another, direct or through other filters, or to an aggregate.

    It holds the name and not the key, in small letters: the other filter may be deleted, and
    another of that name be made.
    """

    filter = models.ForeignKey(Filter, models.CASCADE, related_name="references")
    owner = models.CharField(max_length=150)
    name = models.CharField(max_length=60)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["filter", "owner", "name"], name="reference_once")
        ]
        indexes = [models.Index(fields=["owner", "name"], name="reference_to")]

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}"


class Reminder(models.Model):
    """A message that comes back unless somebody answers it: once, or ``every`` so many days.

    ``until`` is the instant until which it is snoozed for that, or was, ``next_at`` that at which
    it comes back next, at the local time of ``first``, and ``made_at`` that at which it was asked
    for (filters.authoring.reminders).
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="reminders")
    msgid = models.TextField()
    audience = models.CharField(max_length=200)
    every = models.PositiveSmallIntegerField()
    first = models.BigIntegerField()
    until = models.BigIntegerField()
    next_at = models.BigIntegerField()
    made_at = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "msgid"], name="reminder_once")]
        indexes = [models.Index(fields=["next_at"], name="reminder_next")]

    def __str__(self) -> str:
        return self.msgid


class PendingWindow(models.Model):
    """The window that an older text of a filter still has to run, up to the change of the text."""

    filter = models.ForeignKey(Filter, models.CASCADE, related_name="pending_windows")
    tql = models.TextField()
    start = models.BigIntegerField(null=True)
    since = models.BigIntegerField()
    until = models.BigIntegerField()
    existing_until = models.BigIntegerField(null=True)
    waits_from = models.BigIntegerField(null=True)
    clock = models.BigIntegerField(default=BEGINNING)
    start_clock = models.BigIntegerField(null=True)
    explanation = models.TextField(default="", blank=True)
    error = models.TextField(default="", blank=True)

    def __str__(self) -> str:
        return f"{self.filter} until {self.until}"
