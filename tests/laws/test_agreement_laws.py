"""People who agree: written out, a filter finds what their votes, counted literally, say."""

from dataclasses import replace

import pytest
from hypothesis import Phase
from hypothesis import strategies as st

from tapestry.core.message import PUBLIC
from tests.laws import change_laws, filter_laws
from tests.laws.filter_laws import run, times
from tests.laws.sequence_laws import Literally, written_out
from tests.support.generators import agreements
from tests.support.generators.random_filters import World
from tests.support.generators.rows import schedules

ALICE = (PUBLIC, "user:alice")


@st.composite
def worlds(draw):
    """Draw a world whose filter is written out, and its judge, who reads it as it was drawn."""
    literal, data = draw(agreements.queries()), draw(agreements.voted())
    audiences = draw(st.sampled_from((ALICE, ALICE, (PUBLIC,))))
    schedule = tuple(draw(schedules(tuple(range(7)))))
    start = draw(st.sampled_from((None, None, None, schedule[0] - 1)))
    world = World(written_out(literal), data, audiences, schedule, start)
    return world, Literally(literal, world)


def every_schedule(draw, aggregates):
    world, judge = draw.draw(worlds())
    expected = judge.delivered(world.schedule, world.start)
    assert [times(matches) for matches in run(world)] == expected


def the_general_rule(draw, aggregates):
    world, judge = draw.draw(worlds())
    expected = judge.delivered(world.schedule, world.start)
    assert [times(matches) for matches in run(world, "general")] == expected


def live(draw, aggregates):
    world, judge = draw.draw(worlds())
    change_laws.follow(world, judge, net=draw.draw(st.booleans()))


def votes_out_of_sight_change_nothing(draw, aggregates):
    """Alice sees none of Bob's private votes, nor anybody's on mail that is not hers."""
    world, _ = draw.draw(worlds())
    world = replace(world, audiences=ALICE)
    shown, changed = filter_laws.with_hidden_rows(world, draw.draw(agreements.voted()))
    hidden = [row for row in changed["annotations"] if row["audience"] == "user:eve"]
    for place, row in enumerate(hidden):
        row["annid"] = f"e{place}"
    assert run(replace(world, data=changed)) == run(replace(world, data=shown))


LAWS = {
    every_schedule: 60,
    the_general_rule: 20,
    live: 20,
    votes_out_of_sight_change_nothing: 15,
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law):
    filter_laws.check(law, LAWS[law])


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law_in_a_long_campaign(law):
    filter_laws.check(law, 50 * LAWS[law])


def test_the_law_finds_what_two_do_not_have_in_common(monkeypatch):
    """Somebody with whom one has two messages in common, not three, is no colleague."""
    monkeypatch.setattr("tapestry.query.check.agreement.MIN_IN_COMMON", 2)
    with pytest.raises(AssertionError):
        filter_laws.check(every_schedule, 400, seeded=1, phases=(Phase.generate,))
