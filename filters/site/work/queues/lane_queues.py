"""The queues of Celery, of which each thread consumes those that it has selected.

So several workers (``filters.site.launch.worker``) can be in one process.
"""

from __future__ import annotations

import threading
from typing import Any

from celery.app.amqp import AMQP, Queues


class LaneQueues(Queues):
    """All queues; ``select`` is for the thread that calls it."""

    _selected = threading.local()

    @property
    def _consume_from(self) -> Any:
        return getattr(self._selected, "queues", None)

    @_consume_from.setter
    def _consume_from(self, queues: Any) -> None:
        self._selected.queues = queues


class LaneAMQP(AMQP):
    """What knows the queues of the application."""

    queues_cls = LaneQueues
