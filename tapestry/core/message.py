"""A message and an annotation, before they are appended (a row is one of these and a ts)."""

from __future__ import annotations

from dataclasses import dataclass

PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Message:
    """One message for one audience; columns as in LANGUAGE.md, ``date`` an instant."""

    msgid: str
    date: int | None = None
    sender: str | None = None
    sender_name: str | None = None
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    subject: str | None = None
    newsgroups: tuple[str, ...] = ()
    list: str | None = None
    inreplyto: str | None = None
    references: tuple[str, ...] = ()
    body: str | None = None
    size: int | None = None
    attachments: int | None = None
    source: str | None = None
    audience: str = PUBLIC


@dataclass(frozen=True, slots=True)
class Annotation:
    """One vote, tag or note of one person on one message; never changed."""

    annid: str
    msgid: str
    owner: str
    kind: str
    value: str | None = None
    number: float | None = None
    audience: str = PUBLIC


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
