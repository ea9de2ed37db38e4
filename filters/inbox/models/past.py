"""What states were before they changed: the append-only record from which past lists are made.

    a row changes ─ keep_former ─> the row as it was, and until when  ┐ one transaction
                  └──────────────> the row as it is                   ┘

As of an instant, what stands is the first former row with a later ``until``, else the present row.
A field that is set from nothing to the instant at which that is done needs no former row: before
that instant it was not set.  So what is found, listed, shown and read costs nothing more.
Instants are microseconds (tapestry.core.clock).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils import timezone

from filters.people.models import User
from tapestry.core.clock import wall_clock

if TYPE_CHECKING:
    from filters.authoring.models import Filter
    from filters.inbox.models.match import Match
    from filters.inbox.models.triage import MessageState, Mute


class Former(models.Model):
    """A row as it was ``until`` an instant, exclusive."""

    owner = models.ForeignKey(User, models.CASCADE, db_index=False)
    until = models.BigIntegerField()

    class Meta:
        abstract = True


class FormerMatch(Former):
    """The instants of a match of an owner's filter as they were."""

    FIELDS = (
        "msgid",
        "matched_at",
        "stored_at",
        "shown_at",
        "listed_at",
        "read_at",
        "retracted_at",
    )

    match = models.ForeignKey("inbox.Match", models.CASCADE)
    msgid = models.TextField()
    matched_at = models.BigIntegerField()
    stored_at = models.BigIntegerField()
    shown_at = models.BigIntegerField()
    listed_at = models.BigIntegerField(null=True)
    read_at = models.BigIntegerField(null=True)
    retracted_at = models.BigIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "until"], name="former_match_until")]

    def __str__(self) -> str:
        return self.msgid


class FormerState(Former):
    """The state of a message as it was; ``key`` was that of its row."""

    FIELDS = (
        *("msgid", "audience", "done_at", "starred_at", "snoozed_until", "skipped_at"),
        *("pinned_at", "changed_at"),
    )

    key = models.BigIntegerField()
    msgid = models.TextField()
    audience = models.CharField(max_length=200)
    done_at = models.BigIntegerField(null=True)
    starred_at = models.BigIntegerField(null=True)
    snoozed_until = models.BigIntegerField(null=True)
    skipped_at = models.BigIntegerField(null=True)
    pinned_at = models.BigIntegerField(null=True)
    changed_at = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["owner", "until"], name="former_state_until")]

    def __str__(self) -> str:
        return self.msgid


class FormerMute(Former):
    """A thread that was muted from ``at`` on."""

    root = models.TextField()
    at = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["owner", "until"], name="former_mute_until")]

    def __str__(self) -> str:
        return self.root


class FormerUnfolding(Former):
    """What a filter found in mail of before was shown message by message from ``at`` on."""

    filter = models.ForeignKey("authoring.Filter", models.CASCADE)
    at = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["owner", "until"], name="former_unfolding_until")]

    def __str__(self) -> str:
        return str(self.filter_id)


class FormerRoot(models.Model):
    """The name of a card's conversation as it was ``until`` an instant, exclusive."""

    card = models.ForeignKey("inbox.Card", models.CASCADE)
    root = models.TextField()
    until = models.BigIntegerField(db_index=True)

    def __str__(self) -> str:
        return self.root


def keep_former_matches(matches: models.QuerySet[Match]) -> None:
    """Keep matches as they are, before they are changed otherwise than from null to now."""
    rows = matches.order_by("pk").values_list("pk", "filter__owner_id", *FormerMatch.FIELDS)
    _keep(FormerMatch, ("match", "owner", *FormerMatch.FIELDS), rows)


def keep_former_states(states: models.QuerySet[MessageState]) -> None:
    """Keep what a person did with messages as it is, before that is changed."""
    rows = states.order_by("pk").values_list("pk", "owner_id", *FormerState.FIELDS)
    _keep(FormerState, ("key", "owner", *FormerState.FIELDS), rows)


def lift_mutes(mutes: models.QuerySet[Mute]) -> None:
    """Delete mutes, and keep from when until when they were."""
    rows = mutes.order_by("pk").values_list("owner_id", "root", "at")
    _keep(FormerMute, ("owner", "root", "at"), rows)
    mutes.delete()


def fold(filters: models.QuerySet[Filter]) -> None:
    """Make one line again of what filters found in mail of before; keep since when it was not."""
    opened = filters.filter(folds_before__isnull=False, unfolded_at__isnull=False)
    rows = list(opened.order_by("pk").values_list("owner_id", "pk", "unfolded_at"))
    _keep(FormerUnfolding, ("owner", "filter", "at"), rows)
    changed = {"unfolded_at": None, "updated": timezone.now()}  # as the mark sees by it
    filters.filter(pk__in=[key for _, key, _ in rows]).update(**changed)


def _keep(model: type[Former], fields: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    from filters.site.work.db.bulk import insert_rows  # large, for who only imports models

    now = wall_clock()
    insert_rows(model, (*fields, "until"), [(*row, now) for row in rows])
