"""What is done beside the parts does not end them."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from django.conf import LazySettings

from filters.site.launch import stack
from filters.site.launch.stack import Interrupted, Stack, must_be_free, wait_for_servers
from tapestry.core.errors import TapestryError


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


def test_parts_go_on_while_other_machines_cannot_be_told(
    db: None,
    settings: LazySettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOTCONN, "not connected")  # where Redis is stands in a shared file

    def turn() -> None:
        raise Interrupted

    settings.MACHINE = "a"
    monkeypatch.setattr(stack.machines, "tell", fail)
    monkeypatch.setattr(stack.machines, "leave", fail)
    running = Stack(tmp_path, tmp_path, "http://127.0.0.1:1/")
    with pytest.raises(Interrupted):
        running.watch(turn)
    running.leave()
    assert "cannot be told that this one runs: [Errno" in caplog.text


def test_servers_that_do_not_answer_yet_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [False, False, True]
    monkeypatch.setattr(stack.time, "sleep", lambda _: None)
    monkeypatch.setattr(stack.redis_server, "answers", lambda _: answers.pop(0))
    monkeypatch.setenv("REDIS_URL", "redis://redis")
    wait_for_servers(0)
    assert len(answers) == 3
    monkeypatch.setattr(stack.connection, "vendor", "sqlite")
    wait_for_servers(60)
    assert answers == []


def test_an_address_of_another_machine_is_refused_in_a_sentence() -> None:
    with pytest.raises(TapestryError) as refused:
        must_be_free(0, "192.0.2.1")
    assert refused.value.message == "192.0.2.1 is not an address of this machine."
