"""A person's tags as keywords of IMAP: those that can be one (tapestry.servers.imap_flags).

Keywords are told apart by their letters alone, not by whether these are capitals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from filters.people import people
from filters.people.models import User
from filters.reading.annotations.changes import said_by
from filters.reading.annotations.opinions import keep
from filters.reading.models import OutboxAnnotation
from filters.site.work.parts import services
from tapestry.core.annotations import standing
from tapestry.core.message import Annotation
from tapestry.servers.imap_flags import is_tag
from tapestry.tables.read.messages import annotations_by, annotations_on

Named = dict[str, str]
"""Keywords, or tags, by themselves in small letters."""


def keywords(owner: User, msgids: Collection[str] | None = None) -> dict[str, Named]:
    """Return the tags that a person gave to messages, of those that can be keywords.

    Of all messages by default; one without has no entry then.
    """
    audiences, name = people.audiences(owner), owner.get_username()
    waiting = OutboxAnnotation.objects.filter(owner=owner, appended_at=None).order_by("pk")
    if msgids is not None:
        waiting = waiting.filter(msgid__in=msgids)
    late = [row.as_annotation() for row in waiting.select_related("owner")]
    tables = services.tables()
    rows = (
        annotations_by(tables, name, audiences)
        if msgids is None
        else annotations_on(tables, msgids, audiences)
    )
    annotations: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in [*(row.annotation for row in rows), *late]:
        if annotation.owner == name:
            annotations[annotation.msgid].append(annotation)
    return {
        msgid: {
            row.value.lower(): row.value
            for row in standing(annotations[msgid])
            if row.kind == "tag" and row.value and is_tag(row.value)
        }
        for msgid in (list(annotations) if msgids is None else msgids)
    }


def tell(owner: User, msgid: str, audience: str, tag: str, to: bool) -> None:
    """Have a person tag a message, for themselves, or take that back, however it is spelt."""
    given = {"kind": "tag", "number": None, "private": True}
    if to:
        keep(owner, msgid, audience, {**given, "value": tag, "take_back": ""})
        return
    tags = {row.value or "" for row in standing(said_by(owner, msgid)) if row.kind == "tag"}
    for spelling in sorted(tags):
        if spelling.lower() == tag.lower():
            keep(owner, msgid, audience, {**given, "value": "", "take_back": spelling})
