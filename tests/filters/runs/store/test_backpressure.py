"""Whoever brings much mail waits for the shared window, where it moves, and not for ever."""

from __future__ import annotations

import threading
import time

import pytest

from filters.runs.models import SharedWindow
from filters.runs.store import backpressure
from filters.runs.store.backpressure import Backpressure
from tapestry.core.clock import MINUTE, wall_clock

pytestmark = pytest.mark.django_db(transaction=True)


def stand(since: int | None, *, ran_at: int | None = None) -> None:
    values = {"since": since, "ran_at": wall_clock() if ran_at is None else ran_at}
    SharedWindow.objects.update_or_create(pk=1, defaults=values)


def waiting(wait: Backpressure, ts: int) -> threading.Thread:
    thread = threading.Thread(target=wait, args=(ts,))
    thread.start()
    return thread


def test_an_import_is_at_most_two_appends_ahead() -> None:
    stand(10)
    wait = Backpressure()
    wait(11)
    thread = waiting(wait, 12)
    time.sleep(0.5)
    assert thread.is_alive()
    stand(11)
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize(("since", "age"), [(None, 0), (10, 2 * MINUTE)])
def test_nobody_waits_for_a_window_that_does_not_move(since: int | None, age: int) -> None:
    stand(since, ran_at=wall_clock() - age)
    wait = Backpressure()
    wait(11)
    wait(12)


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backpressure, "PATIENCE", 0.2)
    stand(10)
    wait = Backpressure()
    wait(11)
    wait(12)
