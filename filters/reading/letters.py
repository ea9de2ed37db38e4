"""The letters of messages: a copy that the reader may see, and its original if it was kept."""

from __future__ import annotations

from django.db import transaction

from filters.people.models import User
from filters.reading.rendering.letter import Letter, read_letter
from filters.site.work.crypto.opaque_keys import keyed_digest
from filters.site.work.parts import services
from tapestry.core.annotations import AnnotationSummary
from tapestry.core.message import Message
from tapestry.tables.read.messages import Copy
from tapestry.tables.read.originals import original

MOST = 500
"""Senders of whom a person chose to read text."""


def letter_of(message: Message, copy: Copy) -> Letter:
    """Return what a page shows of a copy of a message."""
    stored = original(services.tables(), message.msgid, copy)
    return read_letter(message.body, None if stored is None else stored.raw)


def choose_text(user: User, sender: str, *, as_text: bool) -> None:
    """Keep whether a person reads the HTML of a sender as text, for the last ``MOST`` senders."""
    with transaction.atomic():
        stored = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        others = [other for other in stored.text_senders if other != sender]
        user.text_senders = [sender, *others][:MOST] if as_text else others
        User.objects.filter(pk=user.pk).update(text_senders=user.text_senders)


def standing_mark(user: User, annotations: AnnotationSummary) -> str:
    """Return what changes whenever the votes and tags change that a reader sees of a message."""
    return keyed_digest("standing", repr((user.pk, annotations)))[:16]
