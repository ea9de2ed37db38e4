"""What is a person's in the database, as text: who they are, their filters, what they said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User

from filters.models import Filter, OutboxAnnotation, Profile
from tapestry.core.clock import to_datetime
from tapestry.core.message import Annotation


def profile_json(user: User) -> str:
    """Return who a person is here, and where their mail comes from and goes; without secrets."""
    profile = Profile.objects.filter(user=user).first() or Profile(user=user)
    content: dict[str, Any] = {
        "name": user.get_username(),
        "full_name": user.get_full_name(),
        "email": user.email,
        "other_addresses": profile.aliases,
        "groups": sorted(user.groups.values_list("name", flat=True)),
        "since": user.date_joined.isoformat(timespec="seconds"),
        "time_zone": profile.time_zone,
        "show_and_send": profile.timeliness,
        "quiet_minutes": [profile.quiet_from, profile.quiet_to],
        "holiday_until": profile.holiday_until and profile.holiday_until.isoformat(),
        "sources": [
            {"kind": source.kind, "host": source.host, "port": source.port, "user": source.user}
            for source in user.sources.all()
        ],
        "destinations": [
            {"kind": destination.kind, "name": destination.name}
            for destination in user.destinations.all()
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def filters_text(user: User) -> str:
    """Return a person's filters: for each its name, how it runs, and its text."""
    entries = [
        f"# {filter_.name}\n"
        f"# {filter_.get_mode_display()}, {filter_.get_visibility_display()}"
        f"{'' if filter_.active else ', paused'}\n"
        f"{filter_.text}\n"
        for filter_ in Filter.objects.filter(owner=user).order_by("name")
    ]
    return "\n".join(entries)


def annotation_line(ts: int | None, annotation: Annotation) -> str:
    """Return an annotation as a line of JSON; ``at`` is when it became visible."""
    content = {
        "at": None if ts is None else to_datetime(ts).isoformat(),
        "message": annotation.msgid,
        "by": annotation.owner,
        "kind": annotation.kind,
        "value": annotation.value,
        "number": annotation.number,
        "audience": annotation.audience,
    }
    return json.dumps(content, ensure_ascii=False) + "\n"


def waiting_annotations(user: User) -> Iterator[Annotation]:
    """Yield what a person said a moment ago, and is not in the tables yet."""
    for row in OutboxAnnotation.objects.filter(owner=user, appended_at=None).iterator():
        yield row.as_annotation()
