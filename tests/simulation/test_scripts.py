"""Scripts are played part by part, and leave the draws of all else as they were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulation.generator import scripts
from tests.simulation.generator.cast import Cast
from tests.simulation.history import History


class World:
    """A world without a site."""

    seed, fault = 1, ("crash", 3)

    def __init__(self) -> None:
        self.history = History("")


@pytest.fixture
def cast() -> Cast:
    world: Any = World()
    return Cast(world)


def test_a_world_rests_between_the_parts_of_all_scripts(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def short(_: Cast) -> Iterator[None]:
        done.append("part 1")
        yield

    def long(_: Cast) -> Iterator[None]:
        for number in (1, 2, 3):
            done.append(f"part {number}")
            yield

    monkeypatch.setattr(scripts, "SCRIPTS", (short, long))
    scripts.play(cast, lambda: done.append("rest"))
    assert done == ["part 1", "part 1", "rest", "part 2", "rest", "part 3"]


@pytest.mark.parametrize("fails", [False, True])
def test_scripts_draw_by_lots_of_their_own(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    kept = (cast.lots, cast.programs, cast.mail.lots)
    before = [lots.getstate() for lots in kept]

    def draw(cast: Cast) -> Iterator[None]:
        for lots in (cast.lots, cast.programs, cast.mail.lots):
            lots.random()
        if fails:
            raise RuntimeError
        yield

    monkeypatch.setattr(scripts, "SCRIPTS", (draw,))
    try:
        scripts.play(cast, lambda: None)
    except RuntimeError:
        assert fails
    assert (cast.lots, cast.programs, cast.mail.lots) == kept
    assert [lots.getstate() for lots in kept] == before
