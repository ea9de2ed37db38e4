"""Several machines: which parts each starts, and what they must share."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import LazySettings
from django.test import Client

from filters.runs.operator import health
from filters.site.launch import several_machines
from filters.site.launch.processes import background
from filters.site.management.commands import up
from filters.site.settings.machine import read_machine
from filters.site.settings.workers import PARTS, read_workers
from filters.site.work.parts import machines, services
from filters.site.work.parts.endings import Ending
from tapestry.core.clock import HOUR, MINUTE, wall_clock
from tapestry.core.errors import TapestryError


def test_each_machine_starts_its_parts(settings: LazySettings) -> None:
    settings.WORKERS = read_workers("")
    assert [program.log for program in background(("listener", "beat"))] == [
        "worker-listener.log",
        "beat.log",
    ]
    (sources,) = [
        program for program in background(("worker",)) if program.log == "worker-sources.log"
    ]
    assert sources.module[1:] == ("sources",)
    assert not list(background(("web",)))


def test_parts_are_named_with_commas() -> None:
    assert up._parts("beat,web") == ("web", "beat")
    with pytest.raises(ArgumentTypeError, match="'redis' is none of web, worker"):
        up._parts("web,redis")


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("machine", "kinds", "words"),
    [
        ("", ("web",), "Some of the parts of a site run where each machine has a name"),
        ("a", PARTS, "Several machines share one PostgreSQL and one Redis"),
    ],
)
def test_what_several_machines_lack_is_one_sentence(
    settings: LazySettings, machine: str, kinds: tuple[str, ...], words: str, data: Path
) -> None:
    settings.MACHINE = machine
    with pytest.raises(TapestryError, match=words):
        several_machines.require_shared(data, kinds)


@pytest.fixture
def mounted(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, data: Path
) -> Callable[[str, str], None]:
    """Let the directory be a mount of a type, with options."""
    settings.MACHINE = "a"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(several_machines, "connection", SimpleNamespace(vendor="postgresql"))
    monkeypatch.setattr(several_machines, "seconds_apart", lambda: 0)

    def mount(kind: str, options: str) -> None:
        mounts = [
            SimpleNamespace(mountpoint="/", fstype="ext4", opts="rw"),
            SimpleNamespace(mountpoint=str(data.resolve()), fstype=kind, opts=options),
        ]
        monkeypatch.setattr(several_machines.psutil, "disk_partitions", lambda all: mounts)

    return mount


@pytest.mark.parametrize(
    ("kind", "options", "is_enough"),
    [
        ("nfs4", "rw,acdirmin=0,acdirmax=0", True),
        ("nfs", "rw,noac", True),
        ("nfs4", "rw,acdirmax=60", False),
        ("nfs4", "rw,noac,nocto", False),
        ("ceph", "rw", True),
        ("fuse.glusterfs", "rw", False),  # of which nothing more is known
    ],
)
def test_a_directory_must_show_what_others_have_written(
    mounted: Callable[[str, str], None], data: Path, kind: str, options: str, is_enough: bool
) -> None:
    mounted(kind, options)
    with nullcontext() if is_enough else pytest.raises(TapestryError, match="may overlook"):
        several_machines.require_shared(data, PARTS)


@pytest.mark.parametrize(
    ("words", "graph", "is_enough"),
    [
        ("--attribute-timeout=0 --entry-timeout=0", "v-utime v-quick-read", True),
        ("--attribute-timeout=0.0 --entry-timeout=0 --negative-timeout=0", "v", True),
        ("", "v-utime", False),
        ("--attribute-timeout=0 --entry-timeout=1", "v", False),
        ("--attribute-timeout=0 --entry-timeout=0 --negative-timeout=5", "v", False),
        ("--attribute-timeout=0 --entry-timeout=0", "v-md-cache v", False),
        ("--attribute-timeout=0 --entry-timeout=0", "v-nl-cache v", False),
    ],
)
def test_what_gluster_remembers_is_seen_in_its_mount(
    mounted: Callable[[str, str], None], data: Path, words: str, graph: str, is_enough: bool
) -> None:
    mounted("fuse.glusterfs", "rw,relatime,allow_other")
    for name in graph.split():
        (data / ".meta" / "graphs" / "active" / name).mkdir(parents=True)
    command = json.dumps({"Cmdlinestr": f"/usr/sbin/glusterfs {words} /srv"})
    (data / ".meta" / "cmdline").write_text(command)
    with nullcontext() if is_enough else pytest.raises(TapestryError, match="may overlook") as seen:
        several_machines.require_shared(data, PARTS)
    assert is_enough or "attribute-timeout=0,entry-timeout=0" in seen.value.hint


def test_the_name_of_a_machine_is_no_path() -> None:
    with pytest.raises(TapestryError, match="not the name of a machine"):
        read_machine("../x")


@pytest.fixture
def named(
    settings: LazySettings, redis_url: str, monkeypatch: pytest.MonkeyPatch, data: Path
) -> Iterator[None]:
    monkeypatch.setenv("REDIS_URL", redis_url)
    settings.MACHINE = "a"
    yield


def parts(client: Client) -> dict[str, object]:
    found: dict[str, object] = client.get("/healthz").json()["parts"]["parts"]
    return found


@pytest.mark.live
@pytest.mark.django_db
def test_parts_of_other_machines_are_not_missing(
    client: Client, named: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = wall_clock()
    for module in (health, machines):  # seconds are counted: none passes by itself
        monkeypatch.setattr(module, "wall_clock", lambda: now)
    machines.tell("a", ("web",), ())
    assert parts(client) == {"ok": False, "says": "No machine runs beat, listener, worker."}
    machines.tell("b", ("worker", "listener", "beat"), ())
    assert parts(client) == {"ok": True, "says": "run on a, b"}
    ended = Ending("Beat", "beat.log", 2, now - MINUTE, is_down=False)
    machines.tell("b", ("worker", "listener", "beat"), (ended,))
    says = str(parts(client)["says"])
    assert says.startswith("Beat ended 60 s ago, 2 times by now") and "run/machines/b/beat" in says
    monkeypatch.setattr(machines, "wall_clock", lambda: now + HOUR)
    machines.tell("a", ("web",), ())
    assert "The machine b has said nothing for 3600 s." in str(parts(client)["says"])
    machines.leave("b")
    assert parts(client)["says"] == "No machine runs beat, listener, worker."


def test_what_runs_on_a_machine_has_a_directory_of_its_own(
    settings: LazySettings, data: Path
) -> None:
    assert services.run() == data / "run"
    settings.MACHINE = "a"
    assert services.run() == data / "run" / "machines" / "a"
