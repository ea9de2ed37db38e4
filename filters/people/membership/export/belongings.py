"""What a person did here, as lines of JSON: what they said of messages, and their triage."""

from __future__ import annotations

import json
from collections.abc import Iterator

from filters.authoring.models import Reminder
from filters.inbox.models import MessageState, Mute
from filters.people.membership.export.profile import moment
from filters.people.models import User
from filters.reading.models import OutboxAnnotation
from tapestry.core.message import Annotation


def annotation_line(ts: int | None, annotation: Annotation) -> str:
    """Return an annotation as a line of JSON; ``at`` is when it became visible."""
    content = {
        "at": moment(ts),
        "message": annotation.msgid,
        "by": annotation.owner,
        "kind": annotation.kind,
        "value": annotation.value,
        "number": annotation.number,
        "starts": moment(annotation.starts),
        "audience": annotation.audience,
    }
    return json.dumps(content, ensure_ascii=False) + "\n"


def waiting_annotations(user: User) -> Iterator[Annotation]:
    """Yield what a person said a moment ago, and is not in the tables yet."""
    for row in OutboxAnnotation.objects.filter(owner=user, appended_at=None).iterator():
        yield row.as_annotation()


def triage_lines(user: User) -> Iterator[str]:
    """Yield what a person starred, snoozed, is done with, waits for, and muted threads."""
    for state in MessageState.objects.filter(owner=user).order_by("pk").iterator():
        content = {
            "message": state.msgid,
            "audience": state.audience,
            "done": moment(state.done_at),
            "starred": moment(state.starred_at),
            "snoozed_until": moment(state.snoozed_until),
            "at_the_top_of_inbox": moment(state.pinned_at),
            "kept_out_of_inbox": moment(state.skipped_at),
        }
        yield json.dumps(content, ensure_ascii=False) + "\n"
    for reminder in Reminder.objects.filter(owner=user).order_by("pk").iterator():
        waited_for = {
            "message": reminder.msgid,
            "audience": reminder.audience,
            "comes_back": moment(reminder.next_at),
            "every_days": reminder.every,
        }
        yield json.dumps(waited_for, ensure_ascii=False) + "\n"
    muted = Mute.objects.filter(owner=user).order_by("root").values_list("root", flat=True)
    for root in muted.distinct():
        yield json.dumps({"muted_thread": root}, ensure_ascii=False) + "\n"
