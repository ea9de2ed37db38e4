"""The laws of a filter (DESIGN.md, "Semantics"), each a function of a random world that asserts it.

The product's statements run on sqlite here; ``oracle`` is the judge.  ``check`` runs a law
on as many examples as asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, reject, seed, settings
from hypothesis import strategies as st

from tapestry.core.clock import BEGINNING, SECOND
from tapestry.core.completeness import Completeness
from tapestry.core.errors import TapestryError
from tapestry.core.ports import Match
from tapestry.core.schema import KEY_COLUMN
from tapestry.plan.compile import Compiled, compile_query
from tapestry.plan.engine import evaluate
from tapestry.plan.lowering.lower import lower_at
from tapestry.plan.validity import groups_while_valid
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_sql, print_tql
from tapestry.rewrite import pipeline
from tapestry.rewrite.restore import conjunction_condition
from tapestry.run.execute import Subscription, execute, execute_windows, signature_groups
from tests.support.engines import nested_loops
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.generators import random_filters, random_worlds
from tests.support.generators import rows as generated_rows
from tests.support.generators.random_worlds import World
from tests.support.generators.terms import disjoin
from tests.support.oracle import queries as oracle

Law = Callable[[st.DataObject, Any], None]
"""Draws a world, with aggregates and ranks or without (or of a kind of filters), and asserts."""

QUICK = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)


def check(
    law: Law,
    examples: int,
    aggregates: bool | str = False,
    seeded: int | None = None,
    **options: object,
) -> None:
    """Run a law on random examples; the first failure is made small and raised."""

    def hold(draw: st.DataObject) -> None:
        law(draw, aggregates)

    test = settings(QUICK, max_examples=examples, **options)(given(st.data())(hold))
    (test if seeded is None else seed(seeded)(test))()


MOST_DELTA_QUERIES = 12
"""A random filter whose plan is larger takes the time of ten and is no example."""


def compiled(
    query: n.CheckedQuery,
    strategy: pipeline.Strategy = "fast",
    most_delta_queries: int = MOST_DELTA_QUERIES,
    *,
    waits: bool = False,
) -> Compiled:
    """Compile a filter; one that is refused is no example."""
    try:
        plan = compile_query(query, strategy, waits=waits)
    except TapestryError:
        reject()
    unlike = {part.signature.key: len(part.disjunct.delta_queries) for part in plan.plans}
    if sum(unlike.values()) > most_delta_queries:
        reject()
    return plan


def run(
    world: World,
    strategy: pipeline.Strategy = "fast",
    engine: SqliteEngine | None = None,
    most_delta_queries: int = MOST_DELTA_QUERIES,
) -> list[list[Match]]:
    """Return the matches of every run of a world's schedule."""
    engine = engine or SqliteEngine(world.data)
    plan = compiled(world.query, strategy, most_delta_queries, waits=world.steps is not None)
    since = BEGINNING if world.start is None else world.start
    known: set[tuple[int, str]] = set()
    runs = []
    for until in world.schedule:
        waits = completeness(world)
        asked = Subscription(0, plan, world.audiences, since, world.start, completeness=waits)
        matches = execute(engine, [asked], until, known.intersection)
        assert len({m.msgid for m in matches}) == len(matches), "one message, one match"
        known |= {(m.filter_id, m.msgid) for m in matches}
        runs.append(matches)
        since = until
    return runs


def completeness(world: World) -> Completeness | None:
    """Return the clock of a world whose filter waits."""
    floor = BEGINNING if world.start is None else world.start
    return None if world.steps is None else Completeness(world.steps, floor)


def times(matches: Sequence[Match]) -> dict[str, int]:
    """Return matched_at by msgid."""
    return {m.msgid: m.matched_at for m in matches}


def expected(world: World) -> list[dict[str, int]]:
    """Return what the oracle says every run delivers."""
    steps = [ts for ts, _ in world.steps or ()]
    judge = oracle.Oracle(world.query, world.data, world.audiences, clock=world.clock, steps=steps)
    return judge.delivered(world.schedule, world.start)


# Laws 2 and 3, law 4.


def every_schedule_delivers_what_the_oracle_does(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(aggregates=aggregates))
    assert [times(matches) for matches in run(world)] == expected(world)


def the_general_rule_delivers_what_the_oracle_does(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(aggregates=aggregates))
    assert [times(matches) for matches in run(world, "general")] == expected(world)


def every_count_and_every_top_deliver_what_the_oracle_does(
    draw: st.DataObject, aggregates: bool
) -> None:
    world = draw.draw(random_worlds.counting_worlds())
    assert [times(matches) for matches in run(world)] == expected(world)


def all_windows_at_once_deliver_what_the_oracle_does(draw: st.DataObject, aggregates: bool) -> None:
    world = replace(draw.draw(random_worlds.worlds(aggregates=aggregates)), start=None)
    asked = Subscription(7, compiled(world.query), world.audiences, BEGINNING)
    runs = execute_windows(SqliteEngine(world.data), [asked], world.schedule)
    assert [times(matches) for matches in runs] == expected(world)


def fast_rules_equal_the_general_rule(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, in_query=False, aggregates=aggregates))
    fast, general = run(world, "fast"), run(world, "general")
    assert [times(matches) for matches in fast] == [times(matches) for matches in general]


def a_filter_that_waits_delivers_what_the_oracle_does(
    draw: st.DataObject, aggregates: bool
) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    world = replace(world, steps=draw.draw(random_worlds.steps()))
    strategy = draw.draw(st.sampled_from(("fast", "general")))
    assert [times(matches) for matches in run(world, strategy)] == expected(world)


def what_matched_at_the_start_is_not_delivered(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(depth=1, aggregates=aggregates))
    start = draw.draw(st.sampled_from(sorted({row["ts"] for row in world.data["messages"]} | {3})))
    world = replace(world, schedule=(start + 4, start + 30), start=start)
    assert [times(matches) for matches in run(world)] == expected(world)


def asking_gives_the_answer_of_that_instant(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(aggregates=aggregates))
    engine = SqliteEngine(world.data)
    subscription = Subscription(0, compiled(world.query), world.audiences, BEGINNING)
    judge = oracle.Oracle(world.query, world.data, world.audiences)
    for t in world.schedule[:5]:
        groups = groups_while_valid(signature_groups([(subscription, 0)]), engine.covers)
        statement = lower_at(groups, t)
        answer = {msgid for _, msgid, *_ in evaluate(engine, statement)}
        assert answer == judge.answer(t)


# Groups.


def filters_run_together_deliver_what_each_would_alone(
    draw: st.DataObject, aggregates: bool
) -> None:
    world = draw.draw(random_worlds.worlds(aggregates=aggregates))
    queries = [world.query, draw.draw(random_filters.queries(depth=2, aggregates=aggregates))]
    queries += [draw.draw(random_filters.siblings(world.query)) for _ in range(2)]
    worlds = []
    for query in queries:
        joins = draw.draw(st.integers(0, len(world.schedule) - 1))
        start = draw.draw(st.sampled_from((None, world.schedule[0] - 1)))
        if joins:
            start = world.schedule[joins - 1]
        audiences = draw.draw(generated_rows.audiences)
        schedule = world.schedule[joins:] if start is not None else world.schedule
        steps = draw.draw(st.one_of(st.none(), random_worlds.steps()))
        worlds.append(World(query, world.data, audiences, schedule, start, steps))
    plans = [compiled(world.query, waits=world.steps is not None) for world in worlds]
    engine = SqliteEngine(world.data)
    known: set[tuple[int, str]] = set()
    delivered: list[list[dict[str, int]]] = [[] for _ in worlds]
    since: dict[int, int] = {}
    for until in world.schedule:
        asked = [
            Subscription(
                i,
                plans[i],
                world.audiences,
                since.get(i, BEGINNING if world.start is None else world.start),
                world.start,
                completeness=completeness(world),
            )
            for i, world in enumerate(worlds)
            if until in world.schedule
        ]
        matches = execute(engine, asked, until, known.intersection)
        known |= {(m.filter_id, m.msgid) for m in matches}
        for subscription in asked:
            i = subscription.filter_id
            since[i] = until
            delivered[i].append(times([m for m in matches if m.filter_id == i]))
    assert delivered == [expected(world) for world in worlds]


def alternatives_of_one_shape_deliver_what_the_oracle_does(
    draw: st.DataObject, aggregates: bool
) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    alike = [world.query, *(draw.draw(random_filters.siblings(world.query)) for _ in range(2))]
    query = replace(world.query, condition=disjoin([sibling.condition for sibling in alike]))
    world = replace(world, query=query)
    assert [times(matches) for matches in run(world)] == expected(world)


# Law 6.


def with_hidden_rows(world: World, others: oracle.Data) -> tuple[oracle.Data, oracle.Data]:
    """Return the rows that a world's owner may see, and those rows among others' in vain."""
    shown = {
        table: [row for row in rows if row["audience"] in world.audiences]
        for table, rows in world.data.items()
    }
    hidden = {
        table: list(
            {row[KEY_COLUMN[table]]: row | {"audience": "user:eve"} for row in rows}.values()
        )
        for table, rows in others.items()
    }
    return shown, {t: shown[t] + hidden[t] for t in shown}


def no_match_and_no_evidence_crosses_an_audience(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(aggregates=aggregates))
    others = draw.draw(generated_rows.data(crowded=aggregates))
    shown, changed = with_hidden_rows(world, others)
    runs = run(world)
    assert run(replace(world, data=changed)) == runs
    for match in (match for matches in runs for match in matches):
        names = {
            row[KEY_COLUMN[table]]
            for table, rows in shown.items()
            for row in rows
            if row["ts"] <= match.matched_at
        }
        assert match.audience in world.audiences
        assert names.issuperset(match.evidence)
        assert match.msgid in names


def evidence_alone_makes_a_match_true(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    disjuncts = compiled(world.query).query.normal.disjuncts
    for match in (match for matches in run(world) for match in matches):
        disjunct = disjuncts[match.disjunct]
        if disjunct.aggregate_tests or any(part.nested for part in disjunct.not_exists):
            continue
        assert len(match.evidence) == len(disjunct.bindings)
        named = {match.msgid, *match.evidence}
        alone = {
            t: [r for r in rows if r[KEY_COLUMN[t]] in named] for t, rows in world.data.items()
        }
        query = replace(world.query, condition=conjunction_condition(disjunct))
        assert match.msgid in nested_loops.answer(query, alone, world.audiences, match.matched_at)


# Law 7.


def a_run_that_was_lost_and_repeated_delivers_once(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(aggregates=aggregates))
    plan, engine = compiled(world.query), SqliteEngine(world.data)
    since = BEGINNING if world.start is None else world.start
    stored: dict[str, int] = {}
    for until in world.schedule:
        asked = Subscription(0, plan, world.audiences, since, world.start)
        seen = {(0, msgid) for msgid in stored}
        matches = execute(engine, [asked], until, seen.intersection)
        assert execute(engine, [asked], until, seen.intersection) == matches
        if until == world.schedule[-1] or draw.draw(st.booleans()):
            assert not stored.keys() & {m.msgid for m in matches}
            stored |= times(matches)
            since = until
    assert stored == {msgid: at for instants in expected(world) for msgid, at in instants.items()}


# Laws 1 and 5.


def normal_rules_keep_the_rows_and_do_nothing_twice(draw: st.DataObject, aggregates: bool) -> None:
    query = draw.draw(random_filters.queries(depth=2, aggregates=aggregates))
    data = draw.draw(generated_rows.data(crowded=aggregates))
    judge = oracle.Oracle(query, data, draw.draw(generated_rows.audiences))
    instants = judge.events[:: max(1, len(judge.events) // 6)]
    kept = [judge.answer(t) for t in instants]

    def keeps(condition: n.Condition) -> bool:
        changed = replace(query, condition=condition)
        other = oracle.Oracle(changed, data, judge.audiences, judge.db)
        return [other.answer(t) for t in instants] == kept

    condition = query.condition
    for rule in pipeline.NORMAL:
        condition = rule(condition)
        assert rule(condition) == condition, rule
        assert keeps(condition), rule
    try:
        normal = pipeline.normal(query)
    except TapestryError:
        reject()
    assert keeps(n.Or.of(map(conjunction_condition, normal.disjuncts)))


def printing_and_reading_again_is_the_identity(draw: st.DataObject, aggregates: bool) -> None:
    query = draw.draw(random_filters.queries(unit=SECOND, aggregates=aggregates))
    once = read(print_tql(query), Context())
    assert read(print_tql(once), Context()).condition == once.condition
    assert read(print_sql(once), Context()).condition == once.condition
    data = draw.draw(generated_rows.data(SECOND, crowded=aggregates))
    audiences = draw.draw(generated_rows.audiences)
    t = draw.draw(st.integers(-2, 40)) * SECOND
    assert nested_loops.answer(once, data, audiences, t) == nested_loops.answer(
        query, data, audiences, t
    )


LAWS: dict[Law, int] = {
    every_schedule_delivers_what_the_oracle_does: 20,
    the_general_rule_delivers_what_the_oracle_does: 10,
    a_filter_that_waits_delivers_what_the_oracle_does: 20,
    all_windows_at_once_deliver_what_the_oracle_does: 5,
    fast_rules_equal_the_general_rule: 10,
    filters_run_together_deliver_what_each_would_alone: 10,
    alternatives_of_one_shape_deliver_what_the_oracle_does: 10,
    no_match_and_no_evidence_crosses_an_audience: 10,
    evidence_alone_makes_a_match_true: 5,
    a_run_that_was_lost_and_repeated_delivers_once: 5,
    what_matched_at_the_start_is_not_delivered: 10,
    asking_gives_the_answer_of_that_instant: 5,
    normal_rules_keep_the_rows_and_do_nothing_twice: 10,
    printing_and_reading_again_is_the_identity: 5,
}
"""How many examples of each law `make test` looks at."""

COUNTING: dict[Law, int] = {law: examples // 2 for law, examples in LAWS.items()} | {
    every_schedule_delivers_what_the_oracle_does: 15,
    every_count_and_every_top_deliver_what_the_oracle_does: 20,
    normal_rules_keep_the_rows_and_do_nothing_twice: 10,
}
"""How many more have aggregates and ranks."""
