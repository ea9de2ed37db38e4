"""Searches and their results, for the pages that show them.

A result holds msgids alone: the messages of a page of it are read when it is shown, as far as the
reader may see them then.
"""

from __future__ import annotations

from dataclasses import dataclass

from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people import people
from filters.people.models import User
from filters.site.work.queues.answers import Answer, Answers

SEARCHES = Answers("search")
"""``{"msgids", "audiences", "at"}``: the message received last first, the audiences for which it
was computed, and when."""


@dataclass(frozen=True, slots=True)
class Found:
    """All messages that a search has found, the one received last first; ``at`` is when."""

    msgids: tuple[str, ...]
    at: int


def question(text: str, within: Filter | None) -> str:
    """Return what a search asks: a text, of all messages or of those in a filter's list."""
    return f"{'' if within is None else within.pk}\n{text}"


def found_of(answer: Answer | None, user: User) -> Found | None:
    """Return what an answer has found; None if it is not what this user may see now."""
    if answer is None or "error" in answer or answer["audiences"] != list(people.audiences(user)):
        return None
    return Found(tuple(answer["msgids"]), answer["at"])


def listed(user: User, filter_: Filter) -> set[str]:
    """Return the messages in the list of a filter of this user."""
    matches = Match.objects.visible_to(user).filter(filter=filter_)
    return set(matches.values_list("msgid", flat=True))
