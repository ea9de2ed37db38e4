"""The messages that are delivered, as they came."""

from __future__ import annotations

from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.parts import services
from tapestry.core.errors import OwnFaultError
from tapestry.core.surroundings import is_unforeseen
from tapestry.tables.read.originals import kept_original

SET_ASIDE = "An error of this site (number {number}): its operator sees why."
"""Of a message that raises an error where it is to be delivered."""


def raw_of(msgid: str, audience: str) -> bytes | None:
    """Return the bytes of the copy of a message for an audience; None if they were not kept."""
    stored = kept_original(services.tables(), msgid, audience)
    return stored.raw if stored else None


def message_fault(msgid: str, way: str, error: Exception) -> OwnFaultError:
    """Set a message aside for an error that nobody foresaw; any other is raised again."""
    if not is_unforeseen(error):
        raise error
    aside = set_aside.record(
        SetAside.Kind.MESSAGE, set_aside.message_key(msgid, way), error, SET_ASIDE
    )
    return OwnFaultError(aside.reason)
