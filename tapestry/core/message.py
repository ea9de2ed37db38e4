"""Messages and annotations before they are appended; a row has a ``ts`` too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

from tapestry.core.errors import TapestryError

PUBLIC = "public"

_AUDIENCE = re.compile(r"public|(?:user|group):\S(?:.*\S)?", re.DOTALL)
_NOT_STORABLE = re.compile(r"[\0\ud800-\udfff]")

LONGEST_TEXT = 256 * 1024
"""Bytes of UTF-8 that a text may have; a longer one (a body) is cut."""

LARGEST = 128 * 1024 * 1024
"""Bytes of a message that is read to its end, and whose original is kept."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message for an audience; columns as in LANGUAGE.md, ``received`` and ``date`` instants.

    Without ``received``, or with a later one, it is its ``ts``.
    """

    msgid: str
    date: int | None = None
    sender: str | None = None
    sender_name: str | None = None
    to: tuple[str, ...] = ()
    to_names: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    cc_names: tuple[str, ...] = ()
    subject: str | None = None
    newsgroups: tuple[str, ...] = ()
    list: str | None = None
    inreplyto: str | None = None
    references: tuple[str, ...] = ()
    body: str | None = None
    size: int | None = None
    attachments: int | None = None
    filenames: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    diff_paths: tuple[str, ...] = ()
    patch: int | None = None
    questions: int | None = None
    automatic: str | None = None
    event: str | None = None
    method: str | None = None
    source: str | None = None
    audience: str = PUBLIC
    received: int | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A vote, tag or note of a person on a message; immutable.

    Without ``starts``, which meetings have, it is its ``ts``.
    """

    annid: str
    msgid: str
    owner: str
    kind: str
    value: str | None = None
    number: float | None = None
    audience: str = PUBLIC
    starts: int | None = None


def audiences_of(user: str, groups: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the audiences a user's filters may see: public, their own, their groups'.

    >>> audiences_of("terry", ("parc",))
    ('public', 'user:terry', 'group:parc')
    """
    return (PUBLIC, f"user:{user}", *(f"group:{name}" for name in groups))


def width(audience: str) -> int:
    """Return how wide an audience is: a person 0, a group 1, everybody 2.

    >>> width("user:terry"), width("group:parc"), width("public")
    (0, 1, 2)
    """
    return 2 if audience == PUBLIC else int(audience.startswith("group:"))


def audience_digest(audience: str) -> str:
    """Return what names an audience in the name of a file: 32 hexadecimal digits."""
    return blake2b(audience.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def check_audience(audience: str) -> None:
    """Raise TapestryError unless this is ``public``, ``user:<id>`` or ``group:<id>``.

    A group's name may contain blanks and colons: ``group:Human Resources``.
    """
    if not _AUDIENCE.fullmatch(audience) or _NOT_STORABLE.search(audience):
        raise TapestryError(
            f"“{audience}” is not an audience.", hint="Write public, user:<name> or group:<name>."
        )
