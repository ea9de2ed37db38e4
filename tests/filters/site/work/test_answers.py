"""Answers in Redis: one pool of connections a process, to the server that is named now."""

from __future__ import annotations

import multiprocessing
import uuid
from collections.abc import Callable

import pytest
import redis

from filters.site.work.queues.answers import Answers

ANSWERS = Answers("preview")


def ask_and_answer() -> None:
    task = str(uuid.uuid4())
    ANSWERS.begin(task, 1, "question")
    ANSWERS.keep(task, 1, "question", {"count": 3})
    assert ANSWERS.of_task(task, 1) == {"count": 3}


@pytest.fixture
def connections(redis_url: str) -> Callable[[], int]:
    """Return a function that says how many connections the server has taken."""

    def count() -> int:
        with redis.Redis.from_url(redis_url) as server:
            return int(server.info("stats")["total_connections_received"])

    return count


def test_all_calls_take_the_connections_of_one_pool(
    redis_url: str, connections: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    ask_and_answer()
    before = connections()
    for _ in range(10):
        ask_and_answer()
    assert connections() == before + 1, "that of this count"


def test_a_forked_process_has_connections_of_its_own(
    redis_url: str, connections: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    ask_and_answer()
    before = connections()
    child = multiprocessing.get_context("fork").Process(target=ask_and_answer)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert connections() == before + 2
    ask_and_answer()


def test_another_address_is_another_pool(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    ask_and_answer()
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    with pytest.raises(redis.ConnectionError):
        ask_and_answer()


def test_a_connection_that_the_server_has_ended_is_made_again(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    ask_and_answer()
    with redis.Redis.from_url(redis_url) as server:
        server.client_kill_filter(_type="normal", skipme=True)
    ask_and_answer()
