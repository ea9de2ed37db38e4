"""Tags that filters give: annotations of their owners, private, kept in the outbox of annotations.

    match ─ tag ─> annotation, its key made of filter, revision, message and tag ┐ one transaction
    let go ─ untag ─> its retraction ────────────────────────────────────────────┘ with the match

A key is used once: so a text of a filter tags a message once and takes that back once, whichever
filters look for tags of each other, and every chain of them ends.  A tag stands while anybody's
annotation with it stands: what its owner said stays theirs.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable
from typing import NamedTuple

from filters.people.models import User
from filters.reading.models import OutboxAnnotation, retraction_key
from filters.site.work.db.batching import BATCH_SIZE, batched
from tapestry.core.annotations import annotation_audience
from tapestry.core.clock import wall_clock
from tapestry.core.schema import RETRACTION

_TAGS = uuid.UUID("0f0c2a0e-6d5b-4d0c-9a55-2f3a8f1f4c13")
"""The name space of the keys of tags that filters give."""


class Tag(NamedTuple):
    """A tag that a text of a filter gives to a message."""

    filter_id: int
    revision: int
    msgid: str
    value: str

    @property
    def annid(self) -> str:
        return str(uuid.uuid5(_TAGS, f"{self.filter_id}/{self.revision}/{self.msgid}/{self.value}"))


def put(owner: int, tags: Iterable[Tag], untagged: Iterable[tuple[str, str]]) -> None:
    """Keep that filters of a person tag messages, and take tags back, by annid and msgid."""
    annotations = [(tag.annid, tag.msgid, "tag", tag.value) for tag in tags]
    annotations += [(retraction_key(annid), msgid, RETRACTION, annid) for annid, msgid in untagged]
    if not annotations:
        return
    audience = annotation_audience("", User.objects.get(pk=owner).get_username(), private=True)
    now = wall_clock()
    OutboxAnnotation.objects.bulk_create(
        [
            OutboxAnnotation(
                annid=annid,
                msgid=msgid,
                owner_id=owner,
                kind=kind,
                value=value,
                audience=audience,
                created=now,
            )
            for annid, msgid, kind, value in annotations
        ],
        ignore_conflicts=True,
        batch_size=BATCH_SIZE // 8,
    )


def taken_back(annids: Collection[str]) -> set[str]:
    """Return those of some tags that have been taken back, as far as the outbox still knows."""
    keys = {retraction_key(annid): annid for annid in annids}
    found: set[str] = set()
    for batch in batched(keys):
        rows = OutboxAnnotation.objects.filter(annid__in=batch)
        found.update(keys[key] for key in rows.values_list("annid", flat=True))
    return found
