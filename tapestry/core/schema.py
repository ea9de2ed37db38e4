"""The columns of the tables (LANGUAGE.md, "Columns") and their types.

Instants are stored as 64-bit integers, microseconds since 1970 UTC: every comparison and
every "two weeks later" is then exact integer arithmetic in every engine.  ``received`` and ``date``
are a message's event times, ``ts`` its processing time: when the row became visible here.
"""

from __future__ import annotations

from enum import Enum
from itertools import chain


class Type(Enum):
    """The types of the language; the value is the word used in error messages."""

    TEXT = "text"
    SET = "set of text"
    INTEGER = "integer"
    NUMBER = "number"
    INSTANT = "instant"
    DURATION = "duration"
    NULL = "NULL"

    __hash__ = object.__hash__  # its members are alone: Enum would hash their names, in Python


MESSAGES = "messages"
ANNOTATIONS = "annotations"
THREADS = "threads"

COLUMNS: dict[str, dict[str, Type]] = {
    MESSAGES: {
        "msgid": Type.TEXT,
        "ts": Type.INSTANT,
        "received": Type.INSTANT,
        "date": Type.INSTANT,
        "sender": Type.TEXT,
        "sender_name": Type.TEXT,
        "to": Type.SET,
        "to_names": Type.SET,
        "cc": Type.SET,
        "cc_names": Type.SET,
        "subject": Type.TEXT,
        "newsgroups": Type.SET,
        "list": Type.TEXT,
        "inreplyto": Type.TEXT,
        "references": Type.SET,
        "body": Type.TEXT,
        "size": Type.INTEGER,
        "attachments": Type.INTEGER,
        "filenames": Type.SET,
        "media_types": Type.SET,
        "diff_paths": Type.SET,
        "patch": Type.INTEGER,
        "questions": Type.INTEGER,
        "automatic": Type.TEXT,
        "event": Type.TEXT,
        "method": Type.TEXT,
        "source": Type.TEXT,
        "audience": Type.TEXT,
    },
    ANNOTATIONS: {
        "annid": Type.TEXT,
        "ts": Type.INSTANT,
        "msgid": Type.TEXT,
        "owner": Type.TEXT,
        "kind": Type.TEXT,
        "value": Type.TEXT,
        "number": Type.NUMBER,
        "starts": Type.INSTANT,
        "audience": Type.TEXT,
    },
    THREADS: {
        "msgid": Type.TEXT,
        "ts": Type.INSTANT,
        "root": Type.TEXT,
        "audience": Type.TEXT,
    },
}

RETRACTION = "retraction"
"""The kind of an annotation that takes another back: ``value`` is the annid of that.

It has the same message, owner and audience; one that has not has no effect.
"""

RETRACTED = "retracted"
"""A derived column of annotations: the instant from which on a row does not stand any more.

It is the ``ts`` of the first retraction of the row, NEVER if it has none; a retraction itself
never stands, so of it that is its own ``ts``.  No text of a filter can name the column: the table
``annotations`` has at any instant the rows that stand then.
"""

RETRACTION_KEY = ("annid", "msgid", "owner", "audience")
"""The columns of an annotation that a retraction of it names, ``annid`` as its ``value``."""

KEY_COLUMN: dict[str, str] = {MESSAGES: "msgid", ANNOTATIONS: "annid", THREADS: "msgid"}
"""The key column of each table.

There is a row for each key and audience, of ``threads`` for each root of them.
"""

BOUNDED: dict[str, tuple[str, ...]] = {
    MESSAGES: ("ts", "received"),
    ANNOTATIONS: ("ts", "starts"),
    THREADS: ("ts",),
}
"""The instants of each table that are never NULL, and whose bounds the log has for each file.

``received`` is at or before ``ts``.  ``starts`` is when a meeting begins, of all else ``ts``.  A
slice by one of them is read without the rest of the table.
"""

INSTANTS = tuple(dict.fromkeys(chain.from_iterable(BOUNDED.values())))
"""The bounded columns of all tables."""

INDEXED: dict[str, tuple[str, ...]] = {
    MESSAGES: ("msgid", "inreplyto", "references", "event", "sender"),
    ANNOTATIONS: ("annid", "msgid", "owner", "value"),
    THREADS: ("msgid", "root"),
}
"""The columns of each table by which rows are looked up through an index.

The fewer rows have one key, the earlier: of one sender there is ever more.  Of a set, each element
is a key.
"""

INDEXED_BY_AUDIENCE: dict[str, tuple[str, ...]] = {
    MESSAGES: ("msgid", "inreplyto", "sender"),
    ANNOTATIONS: ("msgid",),
    THREADS: (),
}
"""Columns by which rows are looked up for a reader: other people's rows cost them no time."""
