"""The laws of live filters: what is told of an answer's changes, replayed, is the answer.

``filter_laws`` explains how a law is run; ``oracle`` is the judge here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import strategies as st

from tapestry.core.clock import BEGINNING
from tapestry.core.ports import Change
from tapestry.core.schema import KEY_COLUMN
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription
from tests.laws import filter_laws
from tests.laws.filter_laws import Law
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.generators import random_filters, random_worlds
from tests.support.generators import rows as generated_rows
from tests.support.generators.random_worlds import World
from tests.support.oracle import queries as oracle


def replayed(answer: set[str], reported: Iterable[Change]) -> set[str]:
    """Return an answer after some changes, none of which may contradict it."""
    now = set(answer)
    for change in reported:
        assert (change.msgid in now) == (change.op != "insert"), change
        if change.op == "insert":
            now.add(change.msgid)
        elif change.op == "delete":
            now.remove(change.msgid)
    return now


def follow(world: World, judge: oracle.Oracle, net: bool) -> list[list[Change]]:
    """Run a live filter by a world's schedule, and hold every run against the oracle."""
    plan, engine = filter_laws.compiled(world.query, "general"), SqliteEngine(world.data)
    since = BEGINNING if world.start is None else world.start
    answer = judge.answer(since)
    runs = []
    for until in world.schedule:
        asked = Subscription(0, plan, world.audiences, since, world.start)
        reported = change_windows(engine, [asked], [until], net=net)[0]
        assert reported == sorted(reported, key=lambda change: (change.at, change.msgid))
        assert len({(change.at, change.msgid) for change in reported}) == len(reported)
        if net:
            assert all(change.at == until for change in reported)
            answer = replayed(answer, reported)
        else:
            assert all(since < change.at <= until for change in reported)
            answer = step_by_step(answer, reported, judge, since, until)
        assert answer == judge.answer(until)
        runs.append(reported)
        since = until
    return runs


def step_by_step(
    answer: set[str], reported: list[Change], judge: oracle.Oracle, since: int, until: int
) -> set[str]:
    """Replay changes one instant after the other; the answer is right at each of them."""
    instants = {at for at in judge.events if since < at <= until}
    for at in sorted(instants | {change.at for change in reported}):
        answer = replayed(answer, (change for change in reported if change.at == at))
        assert answer == judge.answer(at), at
    return answer


def every_change_in_order_gives_the_answer_of_every_instant(
    draw: st.DataObject, aggregates: bool
) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    follow(world, oracle.Oracle(world.query, world.data, world.audiences), net=False)


def every_count_and_every_top_give_the_answer_of_every_instant(
    draw: st.DataObject, aggregates: bool
) -> None:
    world = draw.draw(random_worlds.counting_worlds())
    follow(world, oracle.Oracle(world.query, world.data, world.audiences), net=False)


def net_changes_give_the_answer_of_every_run(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    follow(world, oracle.Oracle(world.query, world.data, world.audiences), net=True)


def all_windows_at_once_tell_what_each_would(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    net = draw.draw(st.booleans())
    runs = follow(world, oracle.Oracle(world.query, world.data, world.audiences), net)
    since = BEGINNING if world.start is None else world.start
    asked = Subscription(0, filter_laws.compiled(world.query, "general"), world.audiences, since)
    engine = SqliteEngine(world.data)
    assert change_windows(engine, [asked], world.schedule, net=net) == runs


def live_filters_run_together_tell_what_each_would_alone(
    draw: st.DataObject, aggregates: bool
) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    queries = [world.query, draw.draw(random_filters.queries(depth=1, aggregates=aggregates))]
    queries += [draw.draw(random_filters.siblings(world.query)) for _ in range(2)]
    until, net = world.schedule[-1], draw.draw(st.booleans())
    asked = [
        Subscription(
            filter_id,
            filter_laws.compiled(query, "general"),
            draw.draw(generated_rows.audiences),
            draw.draw(st.sampled_from((BEGINNING, until - 1, until - 4))),
        )
        for filter_id, query in enumerate(queries)
    ]
    engine = SqliteEngine(world.data)
    all_changes = change_windows(engine, asked, [until], net=net)[0]
    assert all_changes == [
        reported
        for subscription in asked
        for reported in change_windows(engine, [subscription], [until], net=net)[0]
    ]
    for subscription, query in zip(asked, queries, strict=True):
        judge = oracle.Oracle(query, world.data, subscription.audiences)
        reported = [change for change in all_changes if change.filter_id == subscription.filter_id]
        assert replayed(judge.answer(subscription.since), reported) == judge.answer(until)


def no_change_and_no_evidence_crosses_an_audience(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    others = draw.draw(generated_rows.data(crowded=aggregates))
    shown, changed = filter_laws.with_hidden_rows(world, others)
    net = draw.draw(st.booleans())
    judge = oracle.Oracle(world.query, shown, world.audiences)
    runs = follow(replace(world, data=shown), judge, net)
    assert follow(replace(world, data=changed), judge, net) == runs
    for change in (change for reported in runs for change in reported):
        names = {
            row[KEY_COLUMN[table]]
            for table, rows in shown.items()
            for row in rows
            if row["ts"] <= change.at
        }
        assert names.issuperset((change.msgid, *change.evidence))


LAWS: dict[Law, int] = {
    every_change_in_order_gives_the_answer_of_every_instant: 20,
    every_count_and_every_top_give_the_answer_of_every_instant: 10,
    net_changes_give_the_answer_of_every_run: 10,
    all_windows_at_once_tell_what_each_would: 5,
    live_filters_run_together_tell_what_each_would_alone: 5,
    no_change_and_no_evidence_crosses_an_audience: 5,
}
"""How many examples of each law are tried in `make test`, with aggregates and without."""
