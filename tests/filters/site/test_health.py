"""The health page: each part, quickly."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from filters.models import Heartbeat, Source
from filters.sources.listening import Listener
from filters.store.filter_store import DjangoClock
from filters.upkeep import rounds
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.core.message import Message
from tapestry.tables.append import append_messages
from tapestry.tables.log import Tables


@pytest.fixture
def all_parts(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, db: None, data: object
) -> Iterator[None]:
    """Redis, a port that answers as Spark's would, and a worker that has just run."""
    monkeypatch.setenv("REDIS_URL", redis_url)
    with socket.create_server(("127.0.0.1", 0)) as spark:
        monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{spark.getsockname()[1]}")
        Heartbeat.objects.create(pk=1, started_at=wall_clock(), ended_at=wall_clock())
        yield


def parts(client: Client) -> tuple[int, dict[str, dict[str, object]]]:
    response = client.get("/healthz")
    return response.status_code, response.json()["parts"]


def test_all_is_well(client: Client, all_parts: None) -> None:
    status, found = parts(client)
    assert status == 200
    assert set(found) == {
        "database",
        "tables",
        "redis",
        "spark",
        "worker",
        "listener",
        "sources",
    }
    assert all(part["ok"] for part in found.values())


def test_parts_that_are_down_are_named(client: Client, db: None) -> None:
    status, found = parts(client)
    assert status == 503
    down = {name for name, part in found.items() if not part["ok"]}
    assert down == {"redis", "spark", "worker"}


def test_strangers_learn_neither_how_much_mail_there_is_nor_where_the_parts_are(
    client: Client, mail: Tables, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer is the same before and after private mail comes; the log has the rest."""
    _, found = parts(client)
    private = Message("one@x.org", audience="user:alice")
    append_messages(mail, DjangoClock(), [private])
    assert parts(client)[1] == found
    assert found["tables"]["says"] == "can be read"
    assert "127.0.0.1" not in str(found) and "127.0.0.1" in caplog.text


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"ended_at": 0, "started_at": 0}, "The worker last ran"),
        ({"error": "sc://10.0.0.7 cannot be reached."}, "The last run failed"),
    ],
)
def test_a_worker_that_is_silent_or_fails_is_down(
    client: Client, all_parts: None, fields: dict[str, object], says: str
) -> None:
    Heartbeat.objects.update(**fields)
    status, found = parts(client)
    assert status == 503
    assert str(found["worker"]["says"]).startswith(says)
    assert "10.0.0.7" not in str(found)


def test_a_long_run_is_a_sign_of_life_but_a_dead_one_is_not(
    client: Client, all_parts: None
) -> None:
    Heartbeat.objects.update(ended_at=wall_clock() - 10 * MINUTE)
    with rounds.round_lock(wait=False):
        assert parts(client)[0] == 200
    assert parts(client)[0] == 503


@pytest.fixture
def mailbox(django_user_model: type[User]) -> Source:
    owner = django_user_model.objects.create_user("ann")
    return Source.objects.create(
        owner=owner, kind="imap", host="mail.secret.example", port=993, audience="user:ann",
        active=True, due_at=wall_clock(),
    )  # fmt: skip


def test_a_listener_that_is_silent_is_down_if_there_is_a_mailbox(
    client: Client, all_parts: None, mailbox: Source
) -> None:
    assert parts(client)[1]["listener"]["ok"] is False
    Listener(lambda source: None).turn()
    status, found = parts(client)
    assert status == 200
    assert found["listener"] == {"ok": True, "says": "listens"}
    Heartbeat.objects.filter(pk=Heartbeat.LISTENER).update(ended_at=wall_clock() - 10 * MINUTE)
    assert parts(client)[1]["listener"]["ok"] is False


def test_sources_are_neither_counted_nor_named(
    client: Client, all_parts: None, mailbox: Source
) -> None:
    Source.objects.update(failures=2, error="mail.secret.example refuses ann")
    Heartbeat.objects.create(pk=Heartbeat.LISTENER, ended_at=wall_clock())
    assert parts(client)[1]["sources"]["says"] == "are pulled, but some fail"
    assert "secret" not in client.get("/healthz").content.decode()
    Source.objects.update(due_at=wall_clock() - 40 * MINUTE)
    assert parts(client)[0] == 503
