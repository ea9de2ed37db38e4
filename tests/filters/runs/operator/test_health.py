"""The health page: each part, quickly."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.runs.models import Heartbeat, SharedWindow
from filters.runs.operator import health
from filters.runs.store.filter_store import DjangoClock
from filters.site.launch.claim import claimed, publish
from filters.site.work.parts import addresses, endings, spark_restart
from filters.sources.models import Source
from filters.sources.pull.listening import Listener
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.file_lock import file_lock
from tapestry.core.message import Message
from tapestry.plan.engine import EngineStuckError
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_state import log_state
from tapestry.tables.write.append import append_messages


@pytest.fixture(autouse=True)
def clock_that_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a test and the page look at one instant, however busy the machine is."""
    now = wall_clock()
    for module in (health, sys.modules[__name__]):
        monkeypatch.setattr(module, "wall_clock", lambda: now)


@pytest.fixture
def all_parts(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, db: None, data: object
) -> Iterator[None]:
    """Redis, a port that answers as Spark's would, and a worker that has just run."""
    monkeypatch.setenv("REDIS_URL", redis_url)
    with socket.create_server(("127.0.0.1", 0)) as spark:
        monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{spark.getsockname()[1]}")
        for lane in (Heartbeat.SHARED, Heartbeat.OWN, Heartbeat.UNPROVEN):
            Heartbeat.objects.create(pk=lane, started_at=wall_clock(), ended_at=wall_clock())
        SharedWindow.objects.create(pk=1, since=wall_clock(), ran_at=wall_clock())
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
        "disk",
        "parts",
        "spark",
        "shared_window",
        "own_windows",
        "unproven_windows",
        "listener",
        "sources",
        "deliveries",
        "set_aside",
    }
    assert all(part["ok"] for part in found.values())


def test_parts_that_are_down_are_named(client: Client, db: None) -> None:
    status, found = parts(client)
    assert status == 503
    down = {name for name, part in found.items() if not part["ok"]}
    lanes = {"shared_window", "own_windows", "unproven_windows"}
    assert down == {"redis", "spark"} | lanes


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


def test_a_spark_that_nothing_has_needed_is_well(
    client: Client, all_parts: None, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_REMOTE")
    assert parts(client)[1]["spark"]["ok"] is False, "nobody starts it"
    with file_lock(data / "run" / addresses.LOCK):
        assert parts(client)[1]["spark"] == {"ok": True, "says": "is not needed yet"}
        spark_restart.want(data / "run", addresses.PROVEN)
        status, found = parts(client)
        assert (status, found["spark"]["says"]) == (200, "is being started")
        os.utime(spark_restart.wanted(data / "run", addresses.PROVEN), (0, 0))
        status, found = parts(client)
        assert (status, found["spark"]["ok"]) == (503, False)


AGO = 3 * MINUTE
SPARK_RUNS_NOTHING = EngineStuckError().message


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"ended_at": -AGO, "started_at": -AGO}, "is late: it last ran 180 s ago"),
        ({"ended_at": -AGO, "started_at": -AGO // 2}, "is late: it began its run 90 s ago"),
        ({"error": "sc://10.0.0.7 cannot be reached."}, "failed the last time"),
        ({"error": SPARK_RUNS_NOTHING, "error_type": "EngineStuckError"}, SPARK_RUNS_NOTHING),
    ],
)
@pytest.mark.parametrize("lane", ["shared_window", "own_windows", "unproven_windows"])
def test_a_lane_that_is_late_or_fails_is_down(
    client: Client, all_parts: None, fields: dict[str, Any], says: str, lane: str
) -> None:
    now = wall_clock()
    stored = {k: now + v if isinstance(v, int) else v for k, v in fields.items()}
    Heartbeat.objects.filter(pk=LANES[lane]).update(**stored)
    status, found = parts(client)
    assert status == 503
    assert [name for name, part in found.items() if not part["ok"]] == [lane]
    assert says in str(found[lane]["says"])
    assert "10.0.0.7" not in str(found)


LANES = {
    "shared_window": Heartbeat.SHARED,
    "own_windows": Heartbeat.OWN,
    "unproven_windows": Heartbeat.UNPROVEN,
}


def test_a_shared_window_that_does_not_move_is_down(client: Client, all_parts: None) -> None:
    before = wall_clock() - 2 * MINUTE
    SharedWindow.objects.update(ran_at=before, since=before)
    status, found = parts(client)
    assert status == 503
    assert (
        found["shared_window"]["says"]
        == "The run of all filters together is late: it last moved 120 s ago."
    )
    SharedWindow.objects.update(since=wall_clock())  # the clock went back, and on again
    assert parts(client)[1]["shared_window"]["ok"]


@pytest.mark.parametrize(
    ("free", "says"),
    [
        (9 * 10**8, "The disk is nearly full: 0.9 GB are free."),
        (10**8, "The disk is full: mail and filters wait until there is room."),
    ],
)
def test_a_disk_that_is_nearly_full_is_down(
    client: Client, all_parts: None, monkeypatch: pytest.MonkeyPatch, free: int, says: str
) -> None:
    usage = shutil.disk_usage("/")._replace(total=10**10, free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    status, found = parts(client)
    assert (status, found["disk"]["says"]) == (503, says)


@pytest.mark.parametrize(
    ("times", "is_down", "says"),
    [
        (1, True, "Beat ended 180 s ago, and will be started again; run/beat.log says more."),
        (
            4,
            False,
            "Beat ended 180 s ago, 4 times by now, and was started again; run/beat.log says more.",
        ),
    ],
)
def test_a_part_that_has_ended_is_named_with_its_log(
    client: Client, all_parts: None, data: Path, times: int, is_down: bool, says: str
) -> None:
    told = endings.Ending("Beat", "beat.log", times, wall_clock() - AGO, is_down)
    with claimed(data) as run:
        publish(run, endings.NAME, endings.dump([told]))
        status, found = parts(client)
    assert (status, found["parts"]["says"]) == (503, says)
    assert parts(client)[0] == 200


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


LONG = 6 * MINUTE


@pytest.fixture
def hook(alice: User) -> Destination:
    return Destination.objects.create(owner=alice, kind="webhook", name="secret.example")


@pytest.mark.parametrize(
    ("fields", "is_late"),
    [
        ({"due_at": -LONG}, True),
        ({"due_at": -MINUTE}, False),
        ({"due_at": MINUTE, "failures": 3, "error": "The server is busy."}, False),
        ({"due_at": -LONG, "active": False}, False),
        ({"due_at": -LONG, "holder": "a worker"}, False),
    ],
)
def test_what_is_due_and_nobody_delivers_is_late(
    client: Client, all_parts: None, hook: Destination, fields: dict[str, Any], is_late: bool
) -> None:
    due_at = wall_clock() + fields["due_at"]
    Destination.objects.update(**fields | {"due_at": due_at})
    status, found = parts(client)
    assert status == (503 if is_late else 200)
    says = "Some deliveries have been due for more than five minutes." if is_late else "are on time"
    assert found["deliveries"] == {"ok": not is_late, "says": says}


@pytest.mark.parametrize(
    ("fields", "is_late"),
    [
        ({}, True),
        ({"sequence": 1}, False),
        ({"shown_at": LONG}, False),
        ({"refreshed_at": 0}, False),
        ({"retracted_at": -MINUTE}, False),
    ],
)
def test_what_is_to_be_shown_and_not_released_is_late(
    client: Client, all_parts: None, alice: User, fields: dict[str, int], is_late: bool
) -> None:
    now = wall_clock()
    instants = dict.fromkeys(("matched_at", "stored_at", "shown_at", "refreshed_at"), now - LONG)
    Match.objects.create(
        filter=Filter.objects.create(owner=alice, name="jones", text="x"),
        msgid="m",
        audience="public",
        card=Card.objects.create(msgid="m", audience="public", ts=now, received=now),
        **instants | {k: v if k == "sequence" else now + v for k, v in fields.items()},
    )
    assert parts(client)[1]["deliveries"]["ok"] is not is_late


def test_a_damaged_file_is_named_with_what_to_do(
    client: Client, all_parts: None, data: Path
) -> None:
    tables = Tables(data / "tables")
    append_messages(tables, DjangoClock(), [Message("a@x")])
    entry = data / "tables" / "messages" / "_delta_log" / "00000000000000000001.json"
    entry.write_bytes(b"")
    shutil.rmtree(data / "tables" / "messages" / "_delta_log_mirror")
    log_state.cache_clear()
    says = {
        "ok": False,
        "says": f"The file {entry.relative_to(data)} is damaged: it is empty. "
        "Run manage.py check-data: it says what is damaged, and --repair mends what it can.",
    }
    assert parts(client)[1]["tables"] == says
    damage = DamagedFileError(entry, "it is empty")
    Heartbeat.objects.filter(pk=Heartbeat.OWN).update(
        error=damage.message, error_type=DamagedFileError.__name__
    )
    assert parts(client)[1]["own_windows"] == says
