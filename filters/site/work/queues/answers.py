"""Answers in Redis for the pages that wait for them: which is wanted, and what it is.

Asynchronous request-reply: a page asks, the worker answers, and the page learns it by polling:

    start ─> task ─ answer_to ─> Redis <─ of_task, of_question ─ page

A person waits for one answer of a kind at a time: the newest, as long as its page is open.  The
key of an answer names the user who asked: nobody else can fetch it.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import redis
from celery import Task
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tapestry.core.surroundings import is_unforeseen
from tapestry.plan.engine import TooSlowError

KEPT = 600
"""Seconds for which an answer is kept."""

OPEN = 10
"""Seconds for which a page counts as open after it has asked for the answer."""

EXPIRES = 60
"""Seconds after which a question that no worker has begun is dropped."""

MOST = 8
"""Answers of a kind that are kept for a person: what is older is asked anew."""

TOO_SLOW = (
    "This takes more than {seconds:g} seconds over the mail that is here, so it was given up. "
    "Say more narrowly what it is to find."
)

FAILED = "Something went wrong. Try again in a minute."
"""What a page says while a part of this site does not answer: the worker's log has it."""

PERSON = SetAside.Kind.PERSON

Answer = dict[str, Any]
"""What is kept as JSON; ``{"error": sentence}`` if there is no answer."""

IsWanted = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one kind, such as ``preview``: a word of their keys and of sentences."""

    kind: str

    def start(self, task: Task, user_id: int, question: str, *arguments: Any) -> str:
        """Send a task for a question; return its id, or that of one under way for the same.

        The task is called with the arguments, and calls ``answer_to``.
        """
        if under_way := self._under_way(user_id, question):
            return under_way
        task_id = str(uuid.uuid4())
        self.begin(task_id, user_id, question)
        task.apply_async(arguments, task_id=task_id, retry=False)
        return task_id

    def _under_way(self, user_id: int, question: str) -> str | None:
        with _server() as server:
            if server.get(self._key(user_id, "asked")) != _digest(question):
                return None
            return self._unanswered(server, user_id)

    def is_under_way(self, user_id: int) -> bool:
        """Tell whether a page of this user waits for an answer that is not there yet."""
        with _server() as server:
            return self._unanswered(server, user_id) is not None

    def _unanswered(self, server: redis.Redis, user_id: int) -> str | None:
        newest = server.get(self._key(user_id, "newest"))
        if newest is None or not server.exists(self._key("open", newest)):
            return None
        return None if server.exists(self._key(user_id, newest)) else str(newest)

    def begin(self, task_id: str, user_id: int, question: str) -> None:
        """Let a task be the one that this user waits for, and no older one."""
        with _server() as server, server.pipeline() as pipeline:
            pipeline.set(self._key(user_id, "newest"), task_id, ex=KEPT)
            pipeline.set(self._key(user_id, "asked"), _digest(question), ex=EXPIRES)
            pipeline.set(self._key("open", task_id), 1, ex=OPEN)
            pipeline.execute()

    def answer_to(
        self,
        task_id: str,
        user_id: int,
        question: str,
        compute: Callable[[IsWanted], Answer],
        *,
        is_for_page: bool = True,
    ) -> None:
        """Compute an answer and keep it, or a sentence that says why there is none.

        Do nothing if nobody waits for it; ``compute`` is told how to see that.  If it is not only
        for the page but changes something, it is computed anyway.
        """
        answer: Answer | None = {"error": FAILED}
        with self.wanted(task_id, user_id) as is_wanted:
            if is_for_page and not is_wanted():
                return
            try:
                answer = compute(is_wanted)
            except TooSlowError:
                # A statement that nobody waits for any more is given up like one that is too slow.
                too_slow = {"error": TOO_SLOW.format(seconds=settings.PREVIEW_SECONDS)}
                answer = too_slow if is_wanted() else None
            except Exception as error:
                answer = {"error": self._sentence(user_id, error)}
                if not isinstance(error, TapestryError) and not is_unforeseen(error):
                    raise
            else:
                set_aside.clear(PERSON, [f"{user_id}/{self.kind}"])
            finally:
                if answer is not None:
                    self.keep(task_id, user_id, question, answer)

    def _sentence(self, user_id: int, error: Exception) -> str:
        """Return what a person is told of an error; one that nobody foresaw is set aside."""
        if is_unforeseen(error):
            name = f"{user_id}/{self.kind}"
            return set_aside.record(PERSON, name, error, set_aside.ASK_AGAIN).reason
        return error.message if isinstance(error, TapestryError) else FAILED

    @contextmanager
    def wanted(self, task_id: str, user_id: int) -> Iterator[IsWanted]:
        """Yield a function that tells whether the page that sent a task still waits for it."""
        with _server() as server:
            yield partial(self._is_wanted, server, task_id, user_id)

    def _is_wanted(self, server: redis.Redis, task_id: str, user_id: int) -> bool:
        try:
            newest, is_open = server.mget(self._key(user_id, "newest"), self._key("open", task_id))
        except redis.RedisError:
            return True
        return bool(newest == task_id and is_open)

    def keep(self, task_id: str, user_id: int, question: str, answer: Answer) -> None:
        """Keep an answer for the page that waits for it; unless it is an error, for the question.

        Of the answers to a person's questions the newest ``MOST`` are kept.
        """
        kept, own = self._key(user_id, "kept"), self._key(user_id, task_id)
        with _server() as server, server.pipeline() as pipeline:
            pipeline.set(own, json.dumps(answer), ex=KEPT)
            if "error" not in answer:
                pipeline.set(self._key(user_id, "of", _digest(question)), own, ex=KEPT)
                pipeline.lpush(kept, own)
                pipeline.expire(kept, KEPT)
            pipeline.lrange(kept, MOST, -1)
            pipeline.ltrim(kept, 0, MOST - 1)
            if old := pipeline.execute()[-2]:
                server.delete(*old)

    def of_task(self, task_id: str, user_id: int) -> Answer | None:
        """Return the answer of this user's task, None while there is none: its page is open."""
        with _server() as server:
            kept = server.get(self._key(user_id, task_id))
            if kept is None:
                server.set(self._key("open", task_id), 1, ex=OPEN, xx=True)
        return None if kept is None else json.loads(str(kept))

    def of_question(self, question: str, user_id: int) -> Answer | None:
        """Return what this user was answered of late, None if that was nothing."""
        with _server() as server:
            own = server.get(self._key(user_id, "of", _digest(question)))
            kept = None if own is None else server.get(str(own))
        return None if kept is None else json.loads(str(kept))

    def is_newest(self, task_id: str, user_id: int) -> bool:
        """Tell whether this user has asked nothing else of this kind since."""
        with _server() as server:
            return bool(server.get(self._key(user_id, "newest")) == task_id)

    def forget(self, question: str, user_id: int) -> None:
        """Have a question asked anew."""
        with _server() as server:
            server.delete(self._key(user_id, "of", _digest(question)))

    def _key(self, *names: object) -> str:
        """Return a key: of an answer by its user and task, of what a user asked by its name."""
        return ":".join(map(str, ("tapestry", self.kind, *names)))


def _digest(question: str) -> str:
    return hashlib.sha256("\n".join(question.splitlines()).encode()).hexdigest()


def _server() -> redis.Redis:
    """Return a client, which takes its connection from those of this process."""
    return redis.Redis(connection_pool=_pool(services.redis_url()))


@lru_cache(maxsize=1)
def _pool(url: str) -> redis.ConnectionPool:
    """Return the connections to the server at a URL; after a fork redis-py makes new ones.

    What fails is tried once more, at once: a connection may be to a Redis that was restarted.
    """
    return redis.ConnectionPool.from_url(
        url,
        socket_connect_timeout=1,
        socket_timeout=5,
        decode_responses=True,
        retry=Retry(NoBackoff(), 1),
    )
