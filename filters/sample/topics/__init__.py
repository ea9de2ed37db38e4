"""What people of the sample write about: one topic, one file of sentences."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Topic:
    """Sentences with ``{slots}``; a thread fills each slot once, ``{n}`` and ``{m}`` anew.

    ``groups`` are newsgroups with their weights; where there are none, it is the mailing
    list ``list_name``.  ``share`` is the part of all threads that is about this topic.
    """

    share: float
    slots: Mapping[str, Sequence[str]]
    subjects: Sequence[str]
    openings: Sequence[str]
    details: Sequence[str]
    questions: Sequence[str]
    answers: Sequence[str]
    doubts: Sequence[str]
    thanks: Sequence[str]
    groups: Mapping[str, float] = field(default_factory=dict)
    list_name: str | None = None


TOPICS = tuple(
    Topic(**tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8")))
    for name in ("databases", "hardware", "baseball", "household")
)
