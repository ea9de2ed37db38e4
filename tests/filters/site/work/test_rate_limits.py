"""Failures are counted in moving windows, in Redis or in the process, and never exceed a limit."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from filters.people.signing_in.backend import ACCOUNT, ACCOUNT_AND_ADDRESS
from filters.site.work import rate_limits
from filters.site.work.rate_limits import Count
from tests.support.faults.races import race
from tests.support.processes.process_memory import forget_tries
from tests.support.servers.redis_process import Redis

PLACES = ["Redis", "the process"]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where failures are counted."""
    if request.param == "Redis":
        monkeypatch.setenv("REDIS_URL", redis_url)
    return str(request.param)


@pytest.fixture
def count() -> Count:
    """A count that nobody else has: five in five minutes."""
    return Count("account and address", ACCOUNT_AND_ADDRESS, secrets.token_hex(8))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let seconds pass: none passes by itself, however busy the machine is."""
    now = float(int(time.time()))

    def pass_by(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(time, "time", lambda: now)
    return pass_by


def refused(*tried: Count) -> int:
    """Return the seconds of a refusal; 0 if the try is counted."""
    try:
        rate_limits.reserve(tried)
    except rate_limits.TooManyTriesError as error:
        return error.seconds
    return 0


def test_the_window_moves(place: str, count: Count, later: Callable[[float], None]) -> None:
    """Never six in any five minutes; a fixed window would allow ten around its end."""
    assert not refused(count)
    later(240)
    assert [refused(count) for _ in range(4)] == [0] * 4
    assert refused(count) == 60
    later(61)
    assert not refused(count)
    assert refused(count) == 239


def test_what_is_given_back_does_not_count(place: str, count: Count) -> None:
    for _ in range(20):
        rate_limits.reserve([count])()
    assert [bool(refused(count)) for _ in range(6)] == [False] * 5 + [True]


def test_a_try_that_one_count_refuses_is_in_none(place: str, count: Count) -> None:
    other = Count("account", ACCOUNT, secrets.token_hex(8))
    for _ in range(5):
        rate_limits.reserve([count])
    assert all(refused(other, count) for _ in range(60))
    assert not refused(other)


def test_one_waits_for_all_that_are_full(
    place: str, count: Count, later: Callable[[float], None]
) -> None:
    other = Count("account", ACCOUNT, secrets.token_hex(8))
    for _ in range(50):
        rate_limits.reserve([other])
    later(120)
    for _ in range(5):
        rate_limits.reserve([count])
    assert refused(count, other) == 780


def test_tries_at_the_same_moment_do_not_exceed_a_limit(place: str, count: Count) -> None:
    answers = race(*[lambda: refused(count)] * 24)
    assert [answer == 0 for answer in answers].count(True) == 5


@pytest.fixture
def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    server = Redis(tmp_path)
    server.start()
    monkeypatch.setenv("REDIS_URL", server.url)
    yield server
    server.kill()


def test_without_redis_the_process_counts_and_with_it_redis_again(
    redis: Redis,
    count: Count,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(rate_limits, "AGAIN", 0.0)
    give_back = rate_limits.reserve([count])
    redis.kill()
    with caplog.at_level(logging.WARNING, rate_limits.__name__):
        give_back()
        assert [bool(refused(count)) for _ in range(6)] == [False] * 5 + [True]
    assert "counted in this process alone" in caplog.text
    redis.start()
    assert [bool(refused(count)) for _ in range(6)] == [False] * 5 + [True]
    forget_tries()
    assert refused(count), "it is Redis that knows"


def test_a_redis_that_was_away_is_not_asked_at_every_try(
    redis: Redis, count: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "AGAIN", 3600.0)
    redis.kill()
    rate_limits.reserve([count])
    redis.start()
    for _ in range(4):
        rate_limits.reserve([count])
    forget_tries()
    assert not refused(count), "Redis knows nothing of it"


def test_an_address_that_is_not_one_of_redis_does_not_close_the_door(
    count: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "nonsense")
    assert [bool(refused(count)) for _ in range(6)] == [False] * 5 + [True]
