"""A topic: where it is discussed, and the sentences that are written about it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Topic:
    """Sentences with ``{slots}``; a thread fills each slot once, ``{n}`` and ``{m}`` anew.

    ``groups`` are newsgroups with their weights; where there are none, it is the mailing
    list ``list_name``.  ``share`` is the part of all threads that is about this topic.
    """

    share: float
    slots: dict[str, tuple[str, ...]]
    subjects: tuple[str, ...]
    openings: tuple[str, ...]
    details: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    doubts: tuple[str, ...]
    thanks: tuple[str, ...]
    groups: dict[str, float] = field(default_factory=dict)
    list_name: str | None = None
