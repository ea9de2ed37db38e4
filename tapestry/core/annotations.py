"""Rules of who may see an annotation, and what all of them on a message come to: no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tapestry.core.message import PUBLIC, Annotation
from tapestry.core.schema import RETRACTION


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
    """The votes, tags, notes and priorities on a message that stand, each with its owners.

    A person's last vote counts here, and their last priority; all are rows of the table.
    """

    voted_for: tuple[str, ...]
    voted_against: tuple[str, ...]
    tags: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[Annotation, ...] = ()
    priorities: tuple[tuple[str, int], ...] = ()


def standing(annotations: Iterable[Annotation]) -> list[Annotation]:
    """Return those that stand, in their order, each annid once: what nobody took back.

    Only the owner of an annotation takes it back, for the audience that sees it.

    >>> tag = Annotation("a1", "m", "terry", "tag", "lunch")
    >>> standing([tag, Annotation("r1", "m", "terry", RETRACTION, "a1")])
    []
    >>> len(standing([tag, Annotation("r1", "m", "mary", RETRACTION, "a1")]))
    1
    """
    every: dict[str, Annotation] = {}
    for annotation in annotations:
        every.setdefault(annotation.annid, annotation)
    retracted = {
        (row.value, row.msgid, row.owner, row.audience)
        for row in every.values()
        if row.kind == RETRACTION
    }
    return [
        row
        for row in every.values()
        if row.kind != RETRACTION
        and (row.annid, row.msgid, row.owner, row.audience) not in retracted
    ]


def summarize(annotations: Iterable[Annotation]) -> AnnotationSummary:
    """Return the summary of annotations, given oldest first; a repeated annid counts once.

    >>> summarize([Annotation("a1", "m", "terry", "tag", "lunch")]).tags
    (('lunch', ('terry',)),)
    """
    votes: dict[str, float] = {}
    tags: dict[str, dict[str, None]] = {}
    notes: list[Annotation] = []
    priorities: dict[str, int] = {}
    for annotation in standing(annotations):
        if annotation.kind == "vote" and annotation.number:
            votes.pop(annotation.owner, None)
            votes[annotation.owner] = annotation.number
        elif annotation.kind == "tag" and annotation.value:
            tags.setdefault(annotation.value, {})[annotation.owner] = None
        elif annotation.kind == "note" and annotation.value:
            notes.append(annotation)
        elif annotation.kind == "priority" and annotation.number:
            priorities[annotation.owner] = round(annotation.number)
    return AnnotationSummary(
        tuple(owner for owner, number in votes.items() if number > 0),
        tuple(owner for owner, number in votes.items() if number < 0),
        tuple((tag, tuple(owners)) for tag, owners in sorted(tags.items())),
        tuple(notes),
        tuple(sorted(priorities.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def may_be_public(message_audience: str) -> bool:
    """Return whether others can see the message, so that an annotation need not be private."""
    return message_audience == PUBLIC or message_audience.startswith("group:")
