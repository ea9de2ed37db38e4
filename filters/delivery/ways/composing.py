"""Write one document of many matches: those of which nothing can be written cost no other.

matches ─ compose ─ raises ─> halves ─> … ─> the guilty are set aside ─ compose ─> the others
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from filters.delivery.ways.originals import message_fault
from tapestry.core.surroundings import is_unforeseen
from tapestry.deliver.batch import DeliveredMatch, Outcome
from tapestry.deliver.wording import counted
from tapestry.run.limits.isolation import isolate

Matches = tuple[DeliveredMatch, ...]
Document = TypeVar("Document")


def composed(
    matches: Matches, way: str, compose: Callable[[Matches, int], Document]
) -> tuple[Document, Matches]:
    """Return what is written of matches, and of which: others raise what nobody foresaw.

    Each of those is set aside as a message.  ``compose`` takes matches, and how many were left
    out; it sends nothing.  Where none can be written, or all can by themselves, the error is
    raised: it may be no message's, and one that is left out does not come again.
    """
    try:
        return compose(matches, 0), matches
    except Exception as error:
        if not is_unforeseen(error):
            raise

        def written(some: Sequence[DeliveredMatch]) -> list[Document]:
            return [compose(tuple(some), 0)]

        _, failures = isolate(written, matches)
        if len(failures) in (0, len(matches)):
            raise
    guilty = {match.sequence for match, _ in failures}
    others = tuple(match for match in matches if match.sequence not in guilty)
    document = compose(others, len(failures))
    for match, fault in failures:
        message_fault(match.msgid, way, fault)
    return document, others


def left_out_words(left_out: int) -> str:
    """Return what is said of so many messages that were left out; empty if none was.

    >>> left_out_words(1)
    'An error of this site keeps 1 message from being shown here; your lists have all.'
    """
    if not left_out:
        return ""
    messages = counted(left_out, "message")
    return f"An error of this site keeps {messages} from being shown here; your lists have all."


def with_left_out(outcome: Outcome, left_out: int) -> Outcome:
    """Return an outcome whose answer says how many messages were left out."""
    answer = f"{outcome.answer} {left_out_words(left_out)}".strip()
    return replace(outcome, answer=answer)
