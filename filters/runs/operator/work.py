"""What waits to be done: tasks in the queue, votes to be stored, matches to be released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import redis

from filters.inbox.models import Match
from filters.reading.models import OutboxAnnotation
from filters.site.work.parts import services
from tapestry.celery import QUEUES
from tapestry.core.clock import wall_clock

SOON = 0.4
"""Seconds that Redis has to answer."""

PURPOSES = {
    "shared": "filters that run together",
    "own": "filters that run by themselves, new filters",
    "previews": "previews and searches",
    "sources": "pulls, votes, upkeep",
    "mail": "digests and forwarded messages",
    "outbound": "deliveries to servers, trials of them",
}

UNACKNOWLEDGED = "unacked"
"""The hash in which Celery's transport keeps the tasks that workers have taken."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of the workers: how many tasks wait in it."""

    name: str
    purpose: str
    waiting: int


@dataclass(frozen=True, slots=True)
class Work:
    """What waits; ``queues`` is empty if Redis does not answer.  ``under_way`` counts tasks."""

    queues: Sequence[Queue]
    under_way: int
    votes: int
    matches: int


def work() -> Work:
    queues, under_way = _queues()
    matches = Match.objects.filter(
        sequence=None, card__isnull=False, retracted_at=None, shown_at__lte=wall_clock()
    )
    votes = OutboxAnnotation.objects.filter(appended_at=None)
    return Work(queues, under_way, votes.count(), matches.count())


def _queues() -> tuple[Sequence[Queue], int]:
    names = tuple(QUEUES)
    try:
        with redis.Redis.from_url(
            services.redis_url(), socket_connect_timeout=SOON, socket_timeout=SOON
        ) as server:
            pipeline = server.pipeline(transaction=False)
            for name in names:
                pipeline.llen(name)
            pipeline.hlen(UNACKNOWLEDGED)
            *lengths, under_way = pipeline.execute()
    except redis.RedisError:
        return (), 0
    waiting = zip(names, lengths, strict=True)
    return [Queue(name, PURPOSES.get(name, ""), length) for name, length in waiting], under_way
