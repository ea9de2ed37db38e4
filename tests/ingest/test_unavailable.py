"""What is decided of messages that a server does not deliver: by state and time alone."""

from __future__ import annotations

import json

from tapestry.ingest.unavailable import (
    ASK_AGAIN,
    IN_A_ROW,
    LONGEST_PAUSE,
    MOST,
    MOST_LOSSES,
    Unavailable,
)

NOW = 1_000_000.0


def test_a_message_is_due_later_and_later() -> None:
    state = Unavailable(7).after_refusal(3, NOW)
    assert (3 in state, state.due(NOW), state.due(NOW + ASK_AGAIN)) == (True, [], [3])
    again = state.after_retry(3, NOW)
    assert again.due(NOW + ASK_AGAIN / 2) == [] and again.missing["3"][0] == 2
    assert again.due(NOW + LONGEST_PAUSE) == [3]
    assert again.without(3).due(NOW + LONGEST_PAUSE) == []


def test_losses_over_one_message_add_up_and_those_over_many_do_not() -> None:
    state = Unavailable(7)
    for _ in range(MOST_LOSSES):
        assert not state.is_hopeless(5)
        state = state.after_loss(1, 9)
    assert state.in_trouble(5) and not state.is_hopeless(5)
    for _ in range(MOST_LOSSES):
        state = state.after_loss(5, 5)
    assert state.is_hopeless(5) and not state.in_trouble(6)
    assert state.after_refusal(5, NOW).trouble is None


def test_a_state_is_full_after_many_in_a_row_and_after_very_many() -> None:
    state = Unavailable(7)
    for number in range(IN_A_ROW):
        assert not state.is_full
        state = state.after_refusal(number, NOW)
    assert state.is_full and not state.after_retry(0, NOW).is_full
    for number in range(MOST):
        state = state.with_missing(number, NOW)
    assert state.after_retry(0, NOW).is_full and not state.after_retry(0, NOW).without(0).is_full


def test_a_state_is_read_as_it_was_stored() -> None:
    state = Unavailable(7).after_refusal(3, NOW).after_loss(4, 4)
    read = Unavailable.read(json.loads(json.dumps(state.content())))
    assert (read.trouble, read.in_a_row, read.due(NOW + ASK_AGAIN)) == ((4, 4, 1), 1, [3])
