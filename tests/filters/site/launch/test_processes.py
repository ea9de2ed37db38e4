"""What every part is told when it is started."""

from pathlib import Path

import pytest

from filters.site.launch.processes import MALLOC, environment


def test_parts_give_memory_back_unless_the_operator_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in MALLOC:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MALLOC_ARENA_MAX", "8")
    variables = environment(Path("data"), "redis://", "http://127.0.0.1:8000/")
    assert {name: variables[name] for name in MALLOC} == MALLOC | {"MALLOC_ARENA_MAX": "8"}
