r"""Flags that the copies of a message keep (RFC 3501, section 2.3.2).

Those of a message that was pulled: \Flagged, \Answered and keywords.  \Seen is not among them, for
a copy is read when its owner has read it here; \Deleted, \Draft and \Recent are not a copy's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_SYSTEM = {b"\\answered": "\\Answered", b"\\flagged": "\\Flagged"}

_KEYWORD = re.compile(rb"""[^\x00-\x20\x7f-\xff(){%*"\\\]]{1,64}""")
"""An atom: keywords are sent to other servers as they came."""

MOST = 32
"""Flags of a message that are kept."""


_OF_PROGRAMS = frozenset(
    ("junk", "nonjunk", "notjunk", "forwarded", "redirected", "mdnsent", "old", "unknown-0")
)
"""Keywords that programs set for themselves, beside those that begin with ``$``."""


def is_tag(name: str) -> bool:
    r"""Tell whether a keyword is a person's tag, and can be: one word of ASCII, of no program.

    >>> [is_tag(name) for name in ("todo", "$Forwarded", "NonJunk", "to do", "Zürich", "a*")]
    [True, False, False, False, False, False]
    """
    is_atom = _KEYWORD.fullmatch(name.encode()) is not None
    return is_atom and not name.startswith("$") and name.lower() not in _OF_PROGRAMS


def flags_to_keep(named: Iterable[object]) -> tuple[str, ...]:
    r"""Return, of the flags that a server names of a message, those that its copies keep.

    >>> flags_to_keep([b"\\FLAGGED", b"\\Seen", b"\\Deleted", b"$todo", b"a) (b"])
    ('\\Flagged', '$todo')
    """
    kept: dict[str, None] = {}
    for flag in named:
        if isinstance(flag, bytes) and flag.lower() in _SYSTEM:
            kept[_SYSTEM[flag.lower()]] = None
        elif isinstance(flag, bytes) and _KEYWORD.fullmatch(flag):
            kept[flag.decode("ascii")] = None
    return tuple(kept)[:MOST]


def permitted(flags: Iterable[str], permanent: Collection[bytes] | None) -> list[bytes]:
    r"""Return those flags that a folder takes, by its PERMANENTFLAGS.

    Keywords are taken if they, or ``\*``, are named.  A folder for which the server names none,
    None here, takes the flags that every server has.

    >>> permitted(["\\Flagged", "todo", "later"], [b"\\flagged", b"Todo"])
    [b'\\Flagged', b'todo']
    >>> permitted(["\\Flagged", "todo"], None)
    [b'\\Flagged']
    """
    taken = set(_SYSTEM) if permanent is None else {bytes(flag).lower() for flag in permanent}
    return [
        flag
        for flag in map(str.encode, flags)
        if flag.lower() in taken or (rb"\*" in taken and not flag.startswith(b"\\"))
    ]
