"""Two versions at one queue: what the newer sends, the older leaves to it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from queue import SimpleQueue

import pytest
import redis
from celery import Celery
from celery.contrib.testing.worker import start_worker

from filters.site.work.queues import passing_on
from tapestry.celery import app as product

pytestmark = pytest.mark.live

QUEUE = "of-two-versions"
SOON = 30.0

Ran = SimpleQueue[tuple[str, tuple[object, ...]]]


def application(url: str) -> Celery:
    """Return a version of the application, with how the product takes up its tasks."""
    version = Celery("version", broker=url, task_cls=product.task_cls, set_as_current=False)
    names = ("worker_consumer", "worker_prefetch_multiplier", "accept_content")
    version.conf.update({name: product.conf[name] for name in names})
    version.conf.update(task_default_queue=QUEUE, task_ignore_result=True)
    return version


def serving(version: Celery) -> AbstractContextManager[object]:
    return start_worker(version, pool="threads", concurrency=2, perform_ping_check=False)


@pytest.fixture
def ran() -> Ran:
    return SimpleQueue()


@pytest.fixture
def older(redis_url: str, ran: Ran) -> Celery:
    version = application(redis_url)

    @version.task(name="known", needs_room=False, shared=False)
    def known(number: int) -> None:
        ran.put(("older", (number,)))

    return version


@pytest.fixture
def newer(redis_url: str, ran: Ran) -> Celery:
    version = application(redis_url)

    @version.task(name="known", needs_room=False, shared=False)
    def known(number: int, *, later: int = 0) -> None:
        ran.put(("newer", (number, later)))

    @version.task(name="later", needs_room=False, shared=False)
    def later(number: int) -> None:
        ran.put(("newer", (number,)))

    return version


def test_what_a_worker_does_not_know_waits_for_one_that_does_or_until_it_expires(
    older: Celery,
    newer: Celery,
    ran: Ran,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    dropped = SimpleQueue[str]()
    is_over = passing_on._is_over

    def noticed(expires: str | None) -> bool:
        if over := is_over(expires):
            dropped.put(str(expires))
        return over

    monkeypatch.setattr(passing_on, "PAUSE", 0.01)
    monkeypatch.setattr(passing_on, "_is_over", noticed)
    newer.tasks["later"].apply_async((0,), expires=0.1)
    newer.tasks["later"].delay(1)
    newer.tasks["known"].delay(2, later=3)
    newer.tasks["known"].delay(4)
    with serving(older):
        assert ran.get(timeout=SOON) == ("older", (4,))
        dropped.get(timeout=SOON)
    with redis.from_url(redis_url) as server:
        assert server.llen(QUEUE) + server.hlen("unacked") == 2
    log = capsys.readouterr().err
    assert 'passed_on task=later reason="the task is unknown"' in log
    assert 'passed_on task=known reason="known() got an unexpected keyword argument' in log
    with serving(newer):
        found = [ran.get(timeout=SOON) for _ in range(2)]
    assert sorted(found) == [("newer", (1,)), ("newer", (2, 3))]
    assert ran.empty()
