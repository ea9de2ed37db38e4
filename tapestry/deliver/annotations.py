"""Who may see an annotation, and what all annotations on a message come to: no I/O."""

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
    """The votes and tags on a message, each with its owners.

    A person's last vote counts here; all votes are rows of the table.
    """

    voted_for: tuple[str, ...]
    voted_against: tuple[str, ...]
    tags: tuple[tuple[str, tuple[str, ...]], ...]


def summarize(annotations: Iterable[Annotation]) -> AnnotationSummary:
    """Return the summary of annotations, given oldest first; a repeated annid counts once.

    >>> summarize([Annotation("a1", "m", "terry", "tag", "lunch")]).tags
    (('lunch', ('terry',)),)
    """
    votes: dict[str, float] = {}
    tags: dict[str, dict[str, None]] = {}
    seen: set[str] = set()
    for annotation in annotations:
        if annotation.annid in seen:
            continue
        seen.add(annotation.annid)
        if annotation.kind == "vote" and annotation.number:
            votes.pop(annotation.owner, None)
            votes[annotation.owner] = annotation.number
        elif annotation.kind == "tag" and annotation.value:
            tags.setdefault(annotation.value, {})[annotation.owner] = None
    return AnnotationSummary(
        tuple(owner for owner, number in votes.items() if number > 0),
        tuple(owner for owner, number in votes.items() if number < 0),
        tuple((tag, tuple(owners)) for tag, owners in sorted(tags.items())),
    )


def may_be_public(message_audience: str) -> bool:
    """Return whether others can see the message, so that an annotation need not be private."""
    return message_audience == PUBLIC or message_audience.startswith("group:")
