"""One delivery: the matches of a range of the release sequence, ready to be written.

A match gets its position in the sequence as it is released to its owner
(filters/runs/store/release.py).  A position is a log offset: a destination has been sent all up
to one.  A delivery that is tried again has the same key, by which receivers know it
(at-least-once delivery).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal


@dataclass(frozen=True, slots=True)
class Link:
    """An address with the words that stand on it."""

    words: str
    url: str


@dataclass(frozen=True, slots=True)
class DeliveredMatch:
    """A match as it is delivered; instants are microseconds (tapestry.core.clock).

    ``op`` is that of a changelog (tapestry.core.ports.Change): a message entered a filter's list,
    or left that of a live filter.  ``filter_text`` is the filter's phrase, empty if it has none,
    ``explanation`` why the message matches; both are words of its owner's audiences.  ``votes``
    counts those for it less those against it.  ``url`` is its page; ``links`` act without signing
    in.  ``filter_name`` is the filter's slug, ``filter_title`` its title, or empty.
    """

    sequence: int
    op: Literal["insert", "delete"]
    filter_id: int
    filter_name: str
    filter_text: str
    msgid: str
    audience: str
    subject: str
    sender: str
    sender_name: str
    received: int
    matched_at: int
    explanation: str = ""
    votes: int = 0
    url: str = ""
    links: tuple[Link, ...] = ()
    filter_title: str = ""

    @property
    def filter_label(self) -> str:
        """Return what the owner of the filter calls it."""
        return self.filter_title or self.filter_name


Excerpts = Mapping[tuple[str, str], str]
"""The first words of messages, by msgid and audience."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The matches of a destination with ``after < sequence <= until``, in order.

    ``key`` names the delivery, the same however often it is tried (an idempotency key).  ``note``
    is a sentence for the reader, such as why many messages come as one digest.  A way that sends
    one message after another ends its turn after so many ``seconds``, and at least one message.
    """

    key: str
    after: int
    until: int
    matches: tuple[DeliveredMatch, ...]
    note: str = ""
    seconds: float = inf

    def entered(self) -> tuple[DeliveredMatch, ...]:
        """Return what entered a list, without what has left one."""
        return tuple(match for match in self.matches if match.op == "insert")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an attempt: delivered, to be tried again, or refused for good.

    ``answer`` is what the other side said, for the destination's owner to read.  ``retry_after``
    is in seconds, where the other side named it.  With ``until`` it was delivered up to that
    position: the turn ended, and the rest of the range waits for the next.
    """

    state: Literal["delivered", "retry", "refused"]
    answer: str = ""
    retry_after: float | None = None
    until: int | None = None


class LaterError(Exception):
    """Nothing is wrong, and nothing was sent: it can be in a moment; the words say why."""
