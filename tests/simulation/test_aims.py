"""What a world wants is what has not met in it, and worlds of consecutive seeds divide it."""

from __future__ import annotations

from filters.delivery.ways.table import WAYS
from tests.simulation.generator.aims import Aims
from tests.simulation.generator.beginnings import KINDS
from tests.simulation.stories import Story


def told() -> tuple[Story, Aims]:
    story = Story()
    story.person("alice")
    for key, feature in ((1, "tql:Like"), (2, "phrase:old")):
        story.filter(key, "alice", "m.size > 1", features=[feature], active=True)
    return story, Aims(1, story.entries)


def test_a_world_lacks_what_has_not_met_in_it() -> None:
    story, aims = told()
    before = aims.lacks("pause")
    story.change(1, "pause", active=False)
    assert (aims.lacks("pause", [1]), aims.lacks("pause")) == (0, aims.lacks("pause", [2]))
    assert aims.lacks("pause") < before
    story.tell("fault", kind="restart")
    assert aims.lacks("restart", [1]) > 0 == aims.lacks("restart", [2])


def test_what_need_not_meet_is_not_lacked() -> None:
    _, aims = told()
    assert aims.lacks("delete") == 0


def test_worlds_of_consecutive_seeds_begin_with_other_features() -> None:
    every = Aims(1, []).order
    first = [set(Aims(seed, []).order[: len(every) * 2 // 5]) for seed in range(9, 13)]
    assert set.union(*first) == set(every)


def test_worlds_send_in_every_way() -> None:
    """Into mailboxes, too: what comes into those is judged by auditor/boxes.py."""
    assert {*KINDS, "mailbox"} == WAYS.keys()
