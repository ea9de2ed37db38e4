"""The parts that are Python: what each is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from filters.site.launch.processes import environment


def test_parts_are_told_where_the_site_is_unless_the_operator_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TAPESTRY_URL", raising=False)
    url = "http://127.0.0.1:8000/"
    assert environment(Path("data"), "redis://", url)["TAPESTRY_URL"] == url
    monkeypatch.setenv("TAPESTRY_URL", "https://tapestry.example.org")
    told = environment(Path("data"), "redis://", url)
    assert told["TAPESTRY_URL"] == "https://tapestry.example.org"
