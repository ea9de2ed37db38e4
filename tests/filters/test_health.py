"""The health page: each part, quickly."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from django.test import Client

from filters import rounds
from filters.models import Pulse
from tapestry.core.clock import MINUTE, wall_clock


@pytest.fixture
def all_parts(
    redis_server: str, monkeypatch: pytest.MonkeyPatch, db: None, data: object
) -> Iterator[None]:
    """Redis, a port that answers as Spark's would, and a worker that has just run."""
    monkeypatch.setenv("REDIS_URL", redis_server)
    with socket.create_server(("127.0.0.1", 0)) as spark:
        monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{spark.getsockname()[1]}")
        Pulse.objects.create(pk=1, started_at=wall_clock(), ended_at=wall_clock())
        yield


def parts(client: Client) -> tuple[int, dict[str, dict[str, object]]]:
    response = client.get("/healthz")
    return response.status_code, response.json()["parts"]


def test_all_is_well(client: Client, all_parts: None) -> None:
    status, found = parts(client)
    assert status == 200
    assert set(found) == {"database", "tables", "redis", "spark", "worker"}
    assert all(part["ok"] for part in found.values())


def test_parts_that_are_down_are_named_and_quickly(client: Client, db: None) -> None:
    begun = time.monotonic()
    status, found = parts(client)
    assert time.monotonic() - begun < 3
    assert status == 503
    down = {name for name, part in found.items() if not part["ok"]}
    assert down == {"redis", "spark", "worker"}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"ended_at": 0, "started_at": 0}, "The worker last ran"),
        ({"error": "Spark cannot be reached."}, "Spark cannot be reached."),
    ],
)
def test_a_worker_that_is_silent_or_fails_is_down(
    client: Client, all_parts: None, fields: dict[str, object], says: str
) -> None:
    Pulse.objects.update(**fields)
    status, found = parts(client)
    assert status == 503
    assert str(found["worker"]["says"]).startswith(says)


def test_a_long_run_is_a_sign_of_life_but_a_dead_one_is_not(
    client: Client, all_parts: None
) -> None:
    Pulse.objects.update(ended_at=wall_clock() - 10 * MINUTE)
    with rounds.the_only_round(wait=False):
        assert parts(client)[0] == 200
    assert parts(client)[0] == 503
