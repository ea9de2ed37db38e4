"""What one form changed of a reader's annotations, and its inverse.

Nothing is deleted: an annotation is undone by a retraction, a retraction by the same annotation
under another key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.db import transaction

from filters.people import people
from filters.people.models import User
from filters.reading.annotations.outbox import restore, said_of, take_back
from filters.site.work.parts import services
from tapestry.core.annotations import standing
from tapestry.core.message import Annotation

UNDO = 600
"""Seconds for which a change can be undone; pages offer it for ten."""

_SALT = "filters.reading.annotations.changes"


@dataclass(frozen=True, slots=True)
class Change:
    """The annids of what a person wrote and took back at once, on one message."""

    msgid: str
    written: tuple[str, ...] = ()
    taken_back: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.written or self.taken_back)


def signed(user: User, change: Change) -> str:
    """Return a change as its person's page keeps it."""
    content = [user.pk, change.msgid, change.written, change.taken_back]
    return signing.dumps(content, salt=_SALT)


def read_change(user: User, text: str) -> Change | None:
    """Return a change that ``signed`` returned for this person; None if it is too old, or none."""
    try:
        owner, msgid, written, taken_back = signing.loads(text, salt=_SALT, max_age=UNDO)
    except signing.BadSignature:
        return None
    return Change(msgid, tuple(written), tuple(taken_back)) if owner == user.pk else None


def undo(user: User, change: Change) -> None:
    """Undo a change, except where the person has said something else since; twice is as once."""
    with locked(user):
        mine = said_by(user, change.msgid)
        now = standing(mine)
        take_back(user, [row for row in now if row.annid in change.written])
        others = [row for row in now if row.annid not in change.written]
        for row in mine:
            if row.annid in change.taken_back and not any(_replaces(it, row) for it in others):
                restore(user, row)


def words_of(change: Change, given: Mapping[str, Any]) -> str:
    """Say what a valid form has changed."""
    kind, value = given["kind"], given["value"] or given["take_back"]
    done = "written" if change.written else "taken back"
    return {
        ("vote", "written"): f"You voted {'for' if (given['number'] or 0) > 0 else 'against'} it.",
        ("vote", "taken back"): "You took your vote back.",
        ("tag", "written"): f"Tagged “{value}”.",
        ("tag", "taken back"): f"Tag “{value}” removed.",
        ("note", "written"): "Note saved.",
        ("note", "taken back"): "Note removed.",
        ("priority", "written"): f"Priority set to {given['number']}.",
        ("priority", "taken back"): "Priority removed.",
    }[kind, done]


@contextmanager
def locked(user: User) -> Iterator[None]:
    """Hold back what a person says otherwise meanwhile: what stands is read and changed at once."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        yield


def said_by(user: User, msgid: str) -> Sequence[Annotation]:
    """Return all that a person said of a message and may see, retractions too."""
    every = said_of(services.tables(), msgid, people.audiences(user))
    name = user.get_username()
    return list({row.annid: row for row in every if row.owner == name}.values())


def _replaces(other: Annotation, row: Annotation) -> bool:
    """Tell whether an annotation says instead what another said: of votes there is one."""
    is_one = row.kind in ("vote", "priority")
    return other.kind == row.kind and (is_one or other.value == row.value)
