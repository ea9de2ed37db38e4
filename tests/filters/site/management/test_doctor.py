"""`manage.py doctor`: what a machine lacks is named, with what to do, and nothing is changed."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.management import call_command

from filters.compose.models import SmtpAccount
from filters.delivery.models import Destination
from filters.people.models import User
from filters.runs.models import Clock
from filters.site.launch import doctor
from filters.site.work.parts.addresses import LOCK
from filters.sources.models import Source
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.files.file_lock import file_lock
from tapestry.core.processes.child_process import free_port

Examined = Callable[..., dict[str, doctor.Finding]]


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch, db: None) -> Examined:
    """Return a function that examines this machine: the findings by their names."""
    monkeypatch.delenv("REDIS_URL")
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.delenv("SPARK_UNPROVEN_REMOTE", raising=False)
    monkeypatch.setattr(doctor, "MEMORY", 1)

    def examine(port: int | None = None) -> dict[str, doctor.Finding]:
        return {finding.name: finding for finding in doctor.examine(port or free_port())}

    return examine


def unwell(findings: dict[str, doctor.Finding]) -> dict[str, str]:
    return {name: found.says for name, found in findings.items() if not found.is_well}


def test_a_machine_with_all_is_well(examined: Examined, data: Path) -> None:
    before = sorted(data.rglob("*"))
    found = examined()
    assert unwell(found) == {}
    assert found["java"].says.endswith("java") and "will be made" not in found["data"].says
    assert sorted(data.rglob("*")) == before


def test_what_is_lacking_is_named_with_what_to_do(
    examined: Examined, alice: User, data: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "MEMORY", 1 << 60)
    monkeypatch.setattr(doctor, "reserve", lambda: 1 << 60)
    monkeypatch.setattr(doctor, "PATIENCE", 1.0)
    monkeypatch.setenv("JAVA_HOME", str(data))
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("EMAIL_URL", "smtp://127.0.0.1:1")
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    settings.BOUNCES = "imaps://bounces@127.0.0.1:1/INBOX"
    monkeypatch.setenv("SPARK_REMOTE", "sc://spark.invalid:1/;token=secret")
    Clock.objects.update_or_create(pk=1, defaults={"last": wall_clock() + HOUR})
    there = {"kind": "imap", "port": 993, "audience": "public", "active": True}
    Source.objects.create(owner=alice, host="no.invalid", **there)
    SmtpAccount.objects.create(owner=alice, host="smtp.invalid", port=1, user="alice")
    hook = {"url": "https://hook.invalid/x"}
    Destination.objects.create(owner=alice, kind="webhook", name="hook", settings=hook)
    box = {"host": "box.invalid", "user": "alice"}
    Destination.objects.create(owner=alice, kind="mailbox", name="box", settings=box)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        found = unwell(examined(other.getsockname()[1]))
    assert set(found) == {
        "java", "spark", "memory", "disk", "port", "redis", "clock", "mail", "bounces", "names"
    }  # fmt: skip
    assert "there is none in JAVA_HOME" in found["java"] and "apt-get install" in found["java"]
    assert "No Spark answers at spark.invalid:1" in found["spark"]
    assert "No mailbox server answers at 127.0.0.1:1" in found["bounces"]
    assert not any("secret" in says for says in found.values())
    assert "spark.invalid" in found["names"]
    assert "3,5" in found["clock"] and "seconds behind" in found["clock"]
    for host in ("no.invalid", "smtp.invalid", "hook.invalid", "box.invalid"):
        assert host in found["names"]
    assert all(says.endswith((".", "headless")) or "--port" in says for says in found.values())


def test_beside_a_site_that_runs_its_port_and_memory_are_its_own(
    examined: Examined, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "MEMORY", psutil.virtual_memory().total * 2)
    (data / "run").mkdir()
    with file_lock(data / "run" / LOCK, mode=0o600) as acquired:
        assert acquired
        assert unwell(examined(port=1)) == {}


def test_the_command_ends_with_1_where_something_is_not_well(
    db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:  # no Redis answers at REDIS_URL in tests
        call_command("doctor", "--json", port=free_port())
    assert ended.value.code == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "No Redis answers" in {line["name"]: line["says"] for line in lines}["redis"]
