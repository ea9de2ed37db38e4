"""The table of ways: how each kind of destination is delivered to.

A new way is, in the product:

- what is sent, and what its answer means: a file in tapestry/deliver/ways
- what sends a batch: a file here, and a line of ``WAYS``; ``webhook`` sends all of it together,
  ``forward`` one message after another, and advances the cursor behind each
- a kind of ``Destination``, a form in forms, a limit in ``MOST_AN_HOUR`` of dispatch/throttle.py

and in the tests, which fail until it is there:

- what it was sent: tests/support/deliveries_received.py; somebody who has one: delivered_people.py
  and two_worlds.py beside it, and tests/filters/runs/test_isolation_of_deliveries.py
- in tests/simulation: who has one (generator/beginnings.py), its server (endpoints.py), and how
  what that was sent is read (auditor/transmissions.py)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from filters.delivery.models import Destination
from filters.delivery.ways import digest, forward, mailbox, push, webhook
from filters.delivery.ways.preview import Preview
from tapestry.deliver.batch import Batch, Outcome

MAIL, OUTBOUND = "mail", "outbound"
"""Queues of deliveries: to our own mail server, and to servers that people name."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a kind of destination is delivered to: what sends a batch, and in which queue.

    ``preview`` returns what would be sent; it sends nothing.  ``most`` is how many matches one
    delivery carries; None has no limit.  With ``reopens`` a range that failed is open again: what
    has come since is tried with it.  That is for servers that can be asked what they have.
    """

    send: Callable[[Destination, Batch], Outcome]
    preview: Callable[[Destination, Batch], Preview]
    queue: str
    most: int | None = None
    reopens: bool = False


WAYS: dict[str, Way] = {
    Destination.Kind.DIGEST: Way(digest.send, digest.preview, MAIL),
    Destination.Kind.FORWARD: Way(forward.send, forward.preview, MAIL),
    Destination.Kind.WEBHOOK: Way(webhook.send, webhook.preview, OUTBOUND, webhook.MOST),
    Destination.Kind.PUSH: Way(push.send, push.preview, OUTBOUND),
    Destination.Kind.MAILBOX: Way(
        mailbox.send, mailbox.preview, OUTBOUND, mailbox.MOST, reopens=True
    ),
}


def kinds_of(queue: str) -> list[str]:
    """Return the kinds of destinations that are served in a queue."""
    return [kind for kind, way in WAYS.items() if way.queue == queue]


def most() -> dict[str, int]:
    """Return how many matches one delivery carries, by the kinds that have a limit."""
    return {kind: way.most for kind, way in WAYS.items() if way.most is not None}
