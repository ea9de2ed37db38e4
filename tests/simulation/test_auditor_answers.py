"""The auditor's answers over time are those of the oracle at each instant.

The two are made apart: the oracle asks SQLite at every instant at which an answer can change, the
auditor solves for the instants.  The auditor reads the filter as the product prints it.
"""

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tapestry.query.tree.printer import print_tql
from tests.laws.sequence_laws import written
from tests.laws.test_agreement_laws import worlds as agreeing
from tests.simulation.auditor.answers import answer
from tests.simulation.auditor.nodes import InFilter
from tests.simulation.auditor.reader import read
from tests.simulation.auditor.spans import holds
from tests.simulation.auditor.tables import Tables
from tests.support.generators import thread_filters
from tests.support.generators.random_worlds import counting_worlds, worlds
from tests.support.generators.sequences import text_of
from tests.support.oracle.queries import Oracle

RANDOM = settings(max_examples=60, suppress_health_check=list(HealthCheck))


def agree(world):
    judge = Oracle(world.query, world.data, world.audiences)
    agree_with(judge, print_tql(world.query), world)


def agree_with(judge, text, world):
    tables = Tables(world.data["messages"], world.data["annotations"], world.audiences)
    found = answer(read(text), tables)
    for t in {at + step for at in judge.events for step in (-1, 0, 1)}:
        there = {msgid for msgid, spans in found.items() if holds(spans, t)}
        assert there == judge.answer(t), f"at {t}: {text}"


@RANDOM
@given(worlds())
def test_random_filters_answer_alike_at_every_instant(world):
    agree(world)


@RANDOM
@given(worlds(aggregates=True))
def test_random_aggregates_answer_alike_at_every_instant(world):
    agree(world)


@RANDOM
@given(counting_worlds())
def test_counts_and_ranks_answer_alike_at_every_instant(world):
    agree(world)


@RANDOM
@given(thread_filters.worlds())
def test_filters_of_threads_answer_alike_at_every_instant(world):
    agree(world)


@RANDOM
@given(written("sequences"))
def test_sequences_answer_alike_as_they_are_written(drawn):
    text = text_of(drawn.literal.condition)
    assume("{" not in text)  # the auditor knows no repetition
    agree_with(drawn.judge, text, drawn.world)


@RANDOM
@given(written("lasts"))
def test_aggregates_of_the_last_answer_alike(drawn):
    agree(drawn.world)


@RANDOM
@given(worlds(aggregates="defined"))
def test_aggregates_defined_in_sql_answer_alike(world):
    agree(world)


@RANDOM
@given(agreeing())
def test_agreements_answer_alike_as_they_are_written(drawn):
    world, judge, literal = drawn
    agree_with(judge, text_of(literal.condition), world)
    agree(world)


@RANDOM
@given(worlds(depth=1), worlds(depth=1), st.booleans())
def test_another_filter_means_its_condition(world, other, negated):
    tables = Tables(world.data["messages"], world.data["annotations"], world.audiences)
    condition = read(print_tql(other.query))
    reference = InFilter("m", "terry", "other")
    found = answer(
        reference, tables, lambda owner, name: {("terry", "other"): condition}[owner, name]
    )
    assert found == answer(condition, tables)
