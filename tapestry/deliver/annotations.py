"""What people may say of a message and what has been said: decisions, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tapestry.core.message import PUBLIC, Annotation


def annotation_audience(message_audience: str, owner: str, *, private: bool) -> str:
    """Return who may see an annotation: never more people than may see its message.

    >>> annotation_audience("public", "terry", private=True)
    'user:terry'
    >>> annotation_audience("group:parc", "terry", private=False)
    'group:parc'
    """
    return f"user:{owner}" if private else message_audience


@dataclass(frozen=True, slots=True)
class AnnotationSummary:
    """How a message stands: who voted how, and its tags with who gave them.

    A person's last vote counts in what is shown; all of them are rows of the table.
    """

    voted_for: tuple[str, ...]
    voted_against: tuple[str, ...]
    tags: tuple[tuple[str, tuple[str, ...]], ...]


def summarize(annotations: Iterable[Annotation]) -> AnnotationSummary:
    """Sum up annotations, given oldest first; an annid that comes twice counts once."""
    votes: dict[str, float] = {}
    tags: dict[str, dict[str, None]] = {}
    seen: set[str] = set()
    for each in annotations:
        if each.annid in seen:
            continue
        seen.add(each.annid)
        if each.kind == "vote" and each.number:
            votes.pop(each.owner, None)
            votes[each.owner] = each.number
        elif each.kind == "tag" and each.value:
            tags.setdefault(each.value, {})[each.owner] = None
    return AnnotationSummary(
        tuple(owner for owner, number in votes.items() if number > 0),
        tuple(owner for owner, number in votes.items() if number < 0),
        tuple((tag, tuple(owners)) for tag, owners in sorted(tags.items())),
    )


def may_be_public(message_audience: str) -> bool:
    """Tell whether there is a choice between an annotation for oneself and one for others."""
    return message_audience == PUBLIC or message_audience.startswith("group:")
