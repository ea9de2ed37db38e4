"""The parts that are Python: which processes there are, and what each is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import LazySettings

from filters.site.launch.processes import background, environment
from filters.site.settings.workers import read_workers


def test_few_processes_have_all_lanes(settings: LazySettings) -> None:
    settings.WORKERS = read_workers("")
    assert {
        program.log: program.module[1:] for program in background() if _works(program.module)
    } == {
        "worker-shared.log": ("shared",),
        "worker-own.log": ("own", "previews"),
        "worker-sources.log": ("sources", "listener"),
        "worker-mail.log": ("mail", "outbound"),
        "worker-mail-2.log": ("mail",),
    }


def _works(module: tuple[str, ...]) -> bool:
    return module[0] == "filters.site.launch.worker"


def test_parts_are_told_where_the_site_is_unless_the_operator_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TAPESTRY_URL", raising=False)
    url = "http://127.0.0.1:8000/"
    assert environment(Path("data"), "redis://", url)["TAPESTRY_URL"] == url
    monkeypatch.setenv("TAPESTRY_URL", "https://tapestry.example.org")
    variables = environment(Path("data"), "redis://", url)
    assert variables["TAPESTRY_URL"] == "https://tapestry.example.org"
