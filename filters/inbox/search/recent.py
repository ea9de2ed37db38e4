"""The searches that somebody asked of late: kept with their session, and gone with it."""

from __future__ import annotations

from django.contrib.sessions.backends.base import SessionBase

from tapestry.query.phrases.help.completion import Completion

SEARCHES = "searches"
"""The key of a session under which they are."""

MOST = 8
LONGEST = 300
"""Characters of a search that is kept."""


def remember(session: SessionBase, text: str) -> None:
    """Keep a search as the newest, unless it is too long; the oldest goes."""
    words = " ".join(text.split())
    before = recent(session)
    if words and len(words) <= LONGEST and before[:1] != [words]:
        session[SEARCHES] = [words, *(other for other in before if other != words)][:MOST]


def recent(session: SessionBase) -> list[str]:
    """Return the searches of a session, the newest first."""
    return list(session.get(SEARCHES, ()))


def forget(session: SessionBase) -> None:
    session.pop(SEARCHES, None)


def alike(session: SessionBase, text: str, most: int) -> list[Completion]:
    """Return at most so many searches that go on as a text does, each in place of all of it."""
    begun = " ".join(text.split()).casefold()
    found = [other for other in recent(session) if other.casefold().startswith(begun)]
    others = [other for other in found if other.casefold() != begun]
    return [Completion(0, len(text), other, "searched before") for other in others[:most]]
