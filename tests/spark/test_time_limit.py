"""A call to Spark that does not end in time is interrupted, then abandoned."""

import threading

import pytest

from tapestry.spark import time_limit
from tapestry.spark.time_limit import GivenUpError, call_within


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(time_limit, "TURN", 0.01)
    monkeypatch.setattr(time_limit, "GRACE", 0.1)


def fail():
    raise KeyError("its own")


def test_a_call_that_ends_in_time_gives_its_result_or_its_error():
    assert call_within(60, lambda: 7, fail) == 7
    with pytest.raises(KeyError, match="its own"):
        call_within(60, fail, fail)


@pytest.mark.parametrize(("seconds", "wanted"), [(0.05, True), (60, False)])
def test_a_call_that_is_late_or_not_wanted_is_interrupted_and_abandoned(seconds, wanted):
    let_go, interrupted = threading.Event(), []
    with pytest.raises(GivenUpError):
        call_within(seconds, let_go.wait, lambda: interrupted.append(1), lambda: wanted)
    assert interrupted
    let_go.set()


def test_a_call_whose_interruption_takes_hold_is_given_up_whatever_it_raises():
    let_go = threading.Event()

    def cancelled():
        let_go.wait()
        raise KeyError("CANCELED")

    with pytest.raises(GivenUpError):
        call_within(0.05, cancelled, let_go.set)


def test_a_call_that_ends_while_it_is_interrupted_gives_its_result(monkeypatch):
    monkeypatch.setattr(time_limit, "GRACE", 60.0)
    let_go = threading.Event()
    assert call_within(0.05, lambda: let_go.wait() and 7, let_go.set) == 7
