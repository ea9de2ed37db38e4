"""Worlds in which a defect of the product was found, and what it was; the tests play them.

A seed draws other worlds where the generator has changed since: what holds a defect down for good
is the test in its own room.  These are kept as worlds that are known to lead far.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Red:
    """A seed, its steps, and what was found with it; ``test`` is the test of the mend."""

    seed: int
    steps: int
    showed: str
    test: str


RED = (
    Red(
        4,
        200,
        "an older text's window that ended later was run again and again without moving",
        "tests/filters/authoring/test_dependents.py",
    ),
    Red(
        3,
        400,
        "an older text's window that ended later was run again and again without moving",
        "tests/filters/authoring/test_dependents.py",
    ),
    Red(
        1,
        150,
        "the shared lane rested by its window's end, which was ahead of a clock set back",
        "tests/filters/runs/test_lanes_of_site.py",
    ),
    Red(
        3,
        300,
        "after a restore a filter was the first in the new index: the others found nothing more",
        "tests/run/test_lanes.py",
    ),
    Red(
        16,
        400,
        "a power failure cut an entry that delta-rs wrote for a vacuum: the table was damaged",
        "tests/tables/write/test_compact.py",
    ),
    Red(
        1001,
        75,
        "another text of a filter waited for mail on a site where nothing else was new",
        "tests/filters/runs/test_lanes_of_site.py",
    ),
    Red(
        1008,
        350,
        "a vote that waited to be appended went with the account of its owner",
        "tests/filters/people/membership/test_removal.py",
    ),
    Red(
        1012,
        150,
        "what left a live list, came back and left unseen lost its trace",
        "tests/filters/runs/store/test_live_changes.py",
    ),
    Red(
        1016,
        25,
        "a flood whose answer was lost came again one by one, for a part of it had left",
        "tests/filters/delivery/test_by_mail.py",
    ),
    Red(
        1022,
        150,
        "what was released before the clock was set back was planned anew, and hidden again",
        "tests/filters/runs/store/test_schedule.py",
    ),
    Red(
        1029,
        325,
        "what was moved to another copy after a forgetting had no card until the next window",
        "tests/filters/runs/test_lanes_of_site.py",
    ),
    Red(
        1001,
        300,
        "what was withheld under an older UIDVALIDITY was missing for ever",
        "tests/filters/sources/test_sync_state.py",
    ),
)
