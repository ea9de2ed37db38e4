"""What is done beside the parts does not end them."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from filters.site.launch import stack
from filters.site.launch.stack import Interrupted, Stack


def test_an_error_beside_the_parts_is_logged_and_they_go_on(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    turns: list[Exception | Interrupted] = [
        OSError(errno.ENOSPC, "No space left on device"),
        KeyError("locked"),
        Interrupted(),
    ]

    def turn() -> None:
        raise turns.pop(0)

    monkeypatch.setattr(stack.time, "sleep", lambda _: None)
    with pytest.raises(Interrupted):
        Stack(tmp_path, tmp_path, "http://127.0.0.1:1/").watch(turn)
    assert turns == [] and "No space left on device" in caplog.text and "locked" in caplog.text
