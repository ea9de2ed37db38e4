"""What people say of messages: kept in the database at once, appended to their table soon after.

Votes, tags, notes and priorities, and the retractions of these.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet, Value
from django.db.models.functions import Concat

from filters.people.models import User
from filters.reading.models import OutboxAnnotation, retraction_key
from filters.runs.models import Clock, SetAside
from filters.runs.store.filter_store import DjangoClock
from filters.site.work import set_aside
from tapestry.core.annotations import annotation_audience
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import Annotation
from tapestry.core.schema import RETRACTION
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import annotations_on
from tapestry.tables.write.append import append_annotations

BATCH = 500

MESSAGE, PART = SetAside.Kind.MESSAGE, "annotation"

KEPT = 30 * DAY
"""How long what was appended stays, so that who says it again soon says it once."""

_RESTORED = uuid.UUID("0f0c2a0e-6d5b-4d0c-9a55-2f3a8f1f4c12")
"""The name space of the keys of annotations that say again what was taken back."""


def annotate(
    owner: User,
    msgid: str,
    message_audience: str,
    kind: str,
    *,
    value: str | None = None,
    number: float | None = None,
    private: bool = False,
) -> OutboxAnnotation:
    """Keep what a person says of a message they can see, until it is appended."""
    return OutboxAnnotation.objects.create(
        annid=str(uuid.uuid4()),
        msgid=msgid,
        owner=owner,
        kind=kind,
        value=value,
        number=number,
        audience=annotation_audience(message_audience, owner.get_username(), private=private),
        created=wall_clock(),
    )


def annotate_all(
    owner: User, about: str, entries: Iterable[tuple[str, str, int | None]]
) -> Sequence[OutboxAnnotation]:
    """Keep annotations that only their owner sees, given kind, value and start; return them."""
    audience, now = annotation_audience("", owner.get_username(), private=True), wall_clock()
    return OutboxAnnotation.objects.bulk_create(
        [
            OutboxAnnotation(
                annid=str(uuid.uuid4()),
                msgid=about,
                owner=owner,
                kind=kind,
                value=value,
                starts=starts,
                audience=audience,
                created=now,
            )
            for kind, value, starts in entries
        ]
    )


def take_back(owner: User, annotations: Iterable[Annotation]) -> None:
    """Keep that a person takes back annotations of their own, each once.

    Whoever asks twice gets the same retraction: its key is made from that of the annotation.
    """
    _keep_once(
        _said_of_own(
            owner,
            annotation,
            retraction_key(annotation.annid),
            kind=RETRACTION,
            value=annotation.annid,
        )
        for annotation in annotations
    )


def restore(owner: User, annotation: Annotation) -> None:
    """Keep that a person says again what they took back, to the same audience.

    Whoever asks twice gets the same annotation, as of retractions.
    """
    says = {name: getattr(annotation, name) for name in ("kind", "value", "number", "starts")}
    annid = str(uuid.uuid5(_RESTORED, annotation.annid))
    _keep_once([_said_of_own(owner, annotation, annid, **says)])


def _said_of_own(owner: User, annotation: Annotation, annid: str, **says: Any) -> OutboxAnnotation:
    """Return what a person says of an annotation of their own, under a key made from its key."""
    if annotation.owner != owner.get_username():
        raise ValueError("only its owner can take back or restore an annotation")
    return OutboxAnnotation(
        annid=annid,
        msgid=annotation.msgid,
        owner=owner,
        audience=annotation.audience,
        created=wall_clock(),
        **says,
    )


def _keep_once(rows: Iterable[OutboxAnnotation]) -> None:
    """Keep rows, but for those whose keys are there."""
    OutboxAnnotation.objects.bulk_create(rows, ignore_conflicts=True)


def said_of(tables: Tables, msgid: str, audiences: Collection[str]) -> list[Annotation]:
    """Return all that was said of a message to some audiences: in the table, then what waits.

    What is appended meanwhile is in both, for what waits is read first.
    """
    waiting = OutboxAnnotation.objects.filter(
        msgid=msgid, audience__in=audiences, appended_at=None
    ).select_related("owner")
    waits = [row.as_annotation() for row in waiting.order_by("pk")]
    return [*(row.annotation for row in annotations_on(tables, [msgid], audiences)), *waits]


def append_outbox(tables: Tables, early: Collection[int] = ()) -> int:
    """Append the annotations that wait, oldest first; return how many rows were added.

    Those with the primary keys ``early`` are tried although they are set aside.
    Idempotent: after a crash the next call appends them again, and the table knows their annids.
    An annotation that is deleted meanwhile is not appended.  One that raises an error is set aside.
    """
    added = 0
    aside = set_aside.of(MESSAGE)
    left_out = aside.waiting_for(PART) - set(early)
    while rows := list(waiting().exclude(pk__in=left_out).select_related("owner")[:BATCH]):
        counts, failed = aside.apart(partial(_append, tables), rows, attrgetter("pk"), PART)
        added += sum(counts)
        left_out.update(row.pk for row in failed)
    return added


def append_all_of(tables: Tables, owners: QuerySet[User]) -> None:
    """Append all that people who are to be deleted have said or taken back.

    Raises TapestryError if any of it still waits: it would go with them.  What they have said to
    themselves is to go.
    """
    theirs = waiting().filter(owner__in=owners)
    append_outbox(tables, early=list(theirs.values_list("pk", flat=True)))
    if theirs.exclude(audience=Concat(Value("user:"), "owner__username")).exists():
        raise TapestryError(
            "Something that was said of a message, or taken back, cannot be stored yet.",
            hint="The operator's page says why, and it is tried again by itself.",
        )


def waiting() -> QuerySet[OutboxAnnotation]:
    """Return what is not in the table yet, oldest first."""
    return OutboxAnnotation.objects.filter(appended_at=None).order_by("pk")


def newest_key(owner: User, msgid: str) -> int:
    """Return the key of what a person said last of a message, for its token; 0 if that is gone."""
    mine = OutboxAnnotation.objects.filter(owner=owner, msgid=msgid).order_by("-pk")
    return mine.values_list("pk", flat=True).first() or 0


def is_any_due() -> bool:
    """Tell whether an annotation waits that is not set aside."""
    return waiting().exclude(pk__in=set_aside.of(MESSAGE).waiting_for(PART)).exists()


def why_not(owner: User, msgid: str) -> str:
    """Return why what a person says of a message is not shared yet; "" if nothing keeps it."""
    keys = set_aside.of(MESSAGE).numbers_of(PART)
    mine = waiting().filter(owner=owner, msgid=msgid, pk__in=keys).first() if keys else None
    return set_aside.reason_of(MESSAGE, f"{mine.pk}/{PART}") if mine else ""


def _append(tables: Tables, rows: Sequence[OutboxAnnotation]) -> list[int]:
    """Append annotations; return how many were added.  None is if any was deleted meanwhile."""
    pks = [row.pk for row in rows]
    annotations = [row.as_annotation() for row in rows]
    forbidden = partial(_is_any_deleted, pks)
    receipt = append_annotations(tables, DjangoClock(), annotations, forbidden=forbidden)
    if not receipt.refused:
        # Appended before, by a call that died, it was visible by the clock's instant.
        appended_at = Clock.instant() if receipt.ts is None else receipt.ts
        OutboxAnnotation.objects.filter(pk__in=pks).update(appended_at=appended_at)
    return [receipt.added]


def _is_any_deleted(pks: Collection[int]) -> bool:
    """Tell whether any was deleted; lock the others until the caller's transaction ends."""
    locked = OutboxAnnotation.objects.select_for_update().filter(pk__in=pks)
    return len(locked.values_list("pk")) < len(pks)


def prune() -> int:
    """Delete what has been in the table for a month; return how many.

    Who takes back the same annotation again has it appended again, and the table knows its annid.
    """
    return OutboxAnnotation.objects.filter(appended_at__lt=wall_clock() - KEPT).delete()[0]
