"""The table of ways: how each kind of destination is delivered to.

A new way is, in the product:

- what is sent, and what its answer means: a file in tapestry/deliver/ways; ``posted`` of
  tapestry/deliver/http/post.py does so for a request by HTTP
- its form, in filters/delivery/forms
- a file here that declares a ``WAY``, and its place in ``WAYS``: pages, programs and workers take
  all from there.  ``webhook`` sends a batch together, ``one_by_one`` message after message

a sentence in OPERATING.md, and in the tests, most of which fail until it is there:

- an example of it, unless it sends to a ``url`` alone: tests/support/delivery/ways.py; what it was
  sent: tests/support/delivery/deliveries_received.py
- in tests/simulation: who has one (generator/beginnings.py), its server (endpoints.py), how what
  that was sent is read (auditor/transmissions.py), ``EVENTS`` of coverage.py, and ``RANGES`` of
  auditor/budgets.py if it sends many matches together
"""

from __future__ import annotations

from filters.delivery.ways import digest, forward, mailbox, push, webhook
from filters.delivery.ways.way import Way

WAYS: dict[str, Way] = {
    way.kind: way for way in (digest.WAY, forward.WAY, mailbox.WAY, webhook.WAY, push.WAY)
}
"""The ways by the kind of destination, in the order in which pages offer them."""


def kinds_of(queue: str) -> list[str]:
    """Return the kinds of destinations that are served in a queue."""
    return [kind for kind, way in WAYS.items() if way.queue == queue]
