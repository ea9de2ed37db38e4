"""What the generator tells is what was stored, whatever it asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.generator import doings
from tests.simulation.generator.cast import Cast
from tests.simulation.history import History

ROW: dict[str, Any] = {
    **{"key": 7, "name": "f1", "owner": "alice", "text": "from jones", "tql": "m", "error": ""},
    **{"t0": None, "live": 0, "timeliness": "", "while_unread": 0, "visibility": "private"},
    **{"active": 1, "end": None, "revision": 0},
}


class World:
    """A world with these filters, in place of one with a site."""

    seed = 1

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows, self.history = rows, History("")

    def select(self, *_: Any) -> list[dict[str, Any]]:
        return list(self.rows)


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_deletion_is_told_if_it_was_stored(
    is_stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world: Any = World([ROW])
    cast = Cast(world)
    cast.filters = {ROW["key"]: ROW}

    def request(*_: Any) -> None:
        """End the process, before or after the deletion is stored."""
        if is_stored:
            world.rows.clear()

    monkeypatch.setattr(cast, "request", request)
    doings.change_filter(cast, ["delete"])
    changes = [entry for entry in world.history.entries if entry["what"] == "filter_changed"]
    assert [entry["key"] for entry in changes] == [ROW["key"]] * is_stored
