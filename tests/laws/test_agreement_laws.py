"""People who agree: written out, a filter finds what their votes, counted literally, say."""

from dataclasses import replace

import pytest
from hypothesis import Phase
from hypothesis import strategies as st

from tapestry.core.message import PUBLIC
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree.printer import print_tql
from tests.laws import change_laws, filter_laws, planting
from tests.laws.filter_laws import run, times
from tests.laws.sequence_laws import Literally, written_out
from tests.support.generators import agreements
from tests.support.generators.random_worlds import World
from tests.support.generators.rows import schedules
from tests.support.generators.sequences import text_of

ALICE = (PUBLIC, "user:alice")


@st.composite
def worlds(draw):
    """Draw a world whose filter is written out; its judge; and the filter as it was drawn."""
    literal, data = draw(agreements.queries()), draw(agreements.voted())
    audiences = draw(st.sampled_from((ALICE, ALICE, (PUBLIC,))))
    schedule = tuple(draw(schedules(tuple(range(7)))))
    start = draw(st.sampled_from((None, None, None, schedule[0] - 1)))
    world = World(written_out(literal), data, audiences, schedule, start)
    return world, Literally(literal, world), literal


def every_schedule(draw, aggregates):
    world, judge, _ = draw.draw(worlds())
    expected = judge.delivered(world.schedule, world.start)
    assert [times(matches) for matches in run(world)] == expected


def the_general_rule(draw, aggregates):
    world, judge, _ = draw.draw(worlds())
    expected = judge.delivered(world.schedule, world.start)
    assert [times(matches) for matches in run(world, "general")] == expected


def live(draw, aggregates):
    world, judge, _ = draw.draw(worlds())
    change_laws.follow(world, judge, net=draw.draw(st.booleans()))


def votes_out_of_sight_change_nothing(draw, aggregates):
    """Alice sees none of Bob's private votes, nor anybody's on mail that is not hers."""
    world, _, _ = draw.draw(worlds())
    world = replace(world, audiences=ALICE)
    shown, changed = filter_laws.with_hidden_rows(world, draw.draw(agreements.voted()))
    hidden = [row for row in changed["annotations"] if row["audience"] == "user:eve"]
    for place, row in enumerate(hidden):
        row["annid"] = f"e{place}"
    assert run(replace(world, data=changed)) == run(replace(world, data=shown))


def a_text_means_what_it_is_written_from(draw, aggregates):
    literal = draw.draw(agreements.queries())
    read_ = read(text_of(literal.condition), Context())
    assert print_tql(read_) == print_tql(written_out(literal))


LAWS = {
    every_schedule: 15,
    the_general_rule: 10,
    live: 10,
    votes_out_of_sight_change_nothing: 4,
    a_text_means_what_it_is_written_from: 15,
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law):
    filter_laws.check(law, LAWS[law])


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law_in_a_long_campaign(law):
    filter_laws.check(law, 200 * LAWS[law])


def test_the_law_finds_what_two_do_not_have_in_common(monkeypatch):
    """Somebody with whom one has two messages in common, not three, is no colleague."""
    monkeypatch.setattr("tapestry.query.check.agreement.MIN_IN_COMMON", 2)
    with pytest.raises(AssertionError):
        filter_laws.check(every_schedule, planting.FEW, seeded=0, phases=(Phase.generate,))
