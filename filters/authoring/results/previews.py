"""Previews: what a filter would have matched, for the page on which it is written.

An answer holds keys alone: the messages are read when it is fetched, as far as the user may see
them then.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import redis

from filters.authoring.results.cost import cost_words, expected_seconds
from filters.authoring.results.overlap import overlap_of
from filters.authoring.results.weeks import chart_of
from filters.people import people
from filters.people.models import User
from filters.site.work.parts import services
from filters.site.work.queues.answers import Answer, Answers, IsWanted
from tapestry.tables.read.messages import Card, cards

PREVIEWS = Answers("preview")
"""``{"count", "rows", "mode", "live", "audiences", "text", "weeks", "overlap"}``, computed for the
audiences.  ``rows`` are a msgid and an instant each, the newest first: when it would have matched,
or came here if ``live``.  ``weeks`` and ``overlap`` are what they count."""

FIRST = 10
"""Messages that the page shows on which a filter is written."""


@dataclass(frozen=True, slots=True)
class Row:
    """A message as a list shows it, at the instant by which the list is ordered."""

    card: Card
    at: int


def question(text: str, mode: str) -> str:
    """Return what a preview asks: what a text would have matched, or matches now."""
    return f"{mode}\n{text}"


def wanted(task_id: str, user_id: int) -> AbstractContextManager[IsWanted]:
    """Yield a function that tells whether a preview is still wanted."""
    return PREVIEWS.wanted(task_id, user_id)


def preview_of_text(text: str, user: User, mode: str) -> dict[str, Any] | None:
    """Return what a preview of this user has found for a text, None if there was none of late."""
    try:
        answer = PREVIEWS.of_question(question(text, mode), user.pk)
    except redis.RedisError:
        return None
    answer = None if answer is None else _visible(answer, user)
    return None if answer is None or "error" in answer else answer


def preview_result(task_id: str, user: User) -> dict[str, Any] | None:
    """Return the result of this user's preview, None while there is none.

    ``{"count", "rows", "mode", "live", "text", "chart", "cost", "overlap"}``, or ``{"error"}``.
    """
    answer = PREVIEWS.of_task(task_id, user.pk)
    return None if answer is None else _visible(answer, user)


def refusal(answer: Answer, user: User) -> str:
    """Return why an answer is not shown to this user now; empty if it is."""
    if "error" in answer:
        return str(answer["error"])
    if answer["audiences"] != list(people.audiences(user)):
        return "Your groups have changed. Please try again."
    return ""


def visible_rows(rows: Sequence[tuple[str, int]], user: User) -> list[Row]:
    """Return those of some rows whose messages this user may see now."""
    msgids = [msgid for msgid, _ in rows]
    visible = cards(services.tables(), msgids, people.audiences(user))
    return [Row(visible[msgid], at) for msgid, at in rows if msgid in visible]


def _visible(answer: Answer, user: User) -> dict[str, Any]:
    if sentence := refusal(answer, user):
        return {"error": sentence}
    seconds = expected_seconds(user, answer["mode"], answer["text"])
    return {
        "count": answer["count"],
        "rows": visible_rows(answer["rows"][:FIRST], user),
        "mode": answer["mode"],
        "live": answer["live"],
        "text": answer["text"],
        "chart": chart_of(answer["weeks"]),
        "cost": cost_words(user, answer["mode"], answer["weeks"], seconds),
        "overlap": overlap_of(user, answer["overlap"], answer["text"], answer["count"]),
    }
