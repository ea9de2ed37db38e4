"""No test passes in which something was set aside that it did not plant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from filters.site.work import set_aside


class Planted:
    """What was set aside in a test; one that expects any says so."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, Exception]] = []
        self.expected = False

    def expect(self) -> list[tuple[str, str, Exception]]:
        """Say that the test plants faults; return what is set aside, as it grows."""
        self.expected = True
        return self.found


@pytest.fixture(autouse=True)
def set_asides(monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    """Fail a test in which something is set aside, unless it calls ``set_asides.expect()``."""
    planted, add = Planted(), set_aside.add

    def recorded(kind: str, key: set_aside.Key, error: Exception, reason: str = "") -> Any:
        planted.found.append((str(kind), str(key), error))
        return add(kind, key, error, reason)

    monkeypatch.setattr(set_aside, "add", recorded)
    yield planted
    if not planted.expected and planted.found:
        kind, key, error = planted.found[0]
        pytest.fail(f"The {kind} {key} was set aside: {error!r}", pytrace=False)
