"""Blobs: originals of Emails, parts of them, and what programs upload for an hour (RFC 8620, 6).

m ID            an original, by the id of its Email; u ID: an upload
m ID-2-1        part 2.1 of it
m ID-2-1_1      part 1 of the message that this part is
"""

from __future__ import annotations

from filters.inbox.mailboxes import originals
from filters.jmap.letters import raw_of
from filters.jmap.models import JmapAccount, JmapRecord, JmapUpload
from filters.jmap.objects import key_of, records_of
from filters.jmap.parts import part_of
from filters.people.budgets import require_room
from filters.site.work.crypto.opaque_keys import encrypt
from tapestry.core.clock import HOUR, wall_clock

MESSAGE, UPLOAD = "m", "u"
"""With which ids of blobs begin."""

KEY = 23
"""Characters of the id of a whole: after them a part is named."""

NESTED = 8
"""Messages within messages of which a part is given."""


def upload(account: JmapAccount, content: bytes) -> str:
    """Keep some bytes for an hour, and return their id; TapestryError if there is no room."""
    forget_old()
    require_room(account.owner, "bytes", len(content))
    row = account.uploads.create(at=wall_clock(), size=len(content), content=content)
    return f"{UPLOAD}{encrypt(row.pk)}"


def forget_old() -> None:
    """Delete the uploads of more than an hour ago."""
    JmapUpload.objects.filter(at__lt=wall_clock() - HOUR).delete()


def bytes_of(account: JmapAccount, blob: str) -> bytes | None:
    """Return the bytes that a blob id names; None if there are none for the owner of an account."""
    kind, key, numbers = blob[:1], blob[1:KEY], blob[KEY + 1 :].split("_")
    raw = _uploaded(account, key) if kind == UPLOAD else None
    if kind == MESSAGE:
        raw = _original(account, key)
    if len(numbers) > NESTED:
        return None
    for number in filter(None, numbers):
        section = part_of(raw, number.replace("-", ".")) if raw else None
        raw = None if section is None or raw is None else section.content(raw)
    return raw


def within(blob: str) -> str:
    """Return with what the ids of the parts of a blob begin."""
    return f"{blob}{'-' if len(blob) == KEY else '_'}"


def _original(account: JmapAccount, key: str) -> bytes | None:
    record = records_of(account, JmapRecord.EMAIL, [key]).get(key)
    if record is not None and record.letter is not None:
        return raw_of(record.letter) or None
    if record is None or record.card_id is None:
        return None
    return dict(originals(account.owner, [record.card_id])).get(record.card_id) or None


def _uploaded(account: JmapAccount, key: str) -> bytes | None:
    rows = account.uploads.filter(pk=key_of(key), at__gte=wall_clock() - HOUR)
    content = rows.values_list("content", flat=True).first()
    return None if content is None else bytes(content)
