"""Votes and tags: kept in the database at once, appended to the annotations table soon after."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from functools import partial

from django.contrib.auth.models import User

from filters.models import OutboxAnnotation
from filters.store.filter_store import DjangoClock
from tapestry.core.clock import wall_clock
from tapestry.deliver.annotations import annotation_audience
from tapestry.tables.append import append_annotations
from tapestry.tables.log import Tables

BATCH = 500


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


def append_outbox(tables: Tables) -> int:
    """Append the annotations that wait, oldest first; return how many rows were added.

    If this is killed between the append and its mark, the next call appends them again, and
    the table knows them by their annid.  One that is deleted meanwhile is not appended.
    """
    added = 0
    while True:
        waiting = list(
            OutboxAnnotation.objects.filter(appended_at=None)
            .select_related("owner")
            .order_by("pk")[:BATCH]
        )
        if not waiting:
            return added
        pks = [annotation.pk for annotation in waiting]
        receipt = append_annotations(
            tables,
            DjangoClock(),
            [annotation.as_annotation() for annotation in waiting],
            forbidden=partial(_is_one_gone, pks),
        )
        if receipt.refused:
            continue
        added += receipt.added
        OutboxAnnotation.objects.filter(pk__in=pks).update(appended_at=wall_clock())


def _is_one_gone(pks: Collection[int]) -> bool:
    """Tell whether one was deleted; who is about to waits for the caller's transaction."""
    locked = OutboxAnnotation.objects.select_for_update().filter(pk__in=pks)
    return len(locked.values_list("pk")) < len(pks)
