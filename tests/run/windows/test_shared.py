"""Enrolled filters deliver in the shared window what each would deliver in its own."""

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import strategies as st

from tapestry.core.clock import BEGINNING, DAY, SECOND
from tapestry.core.ports import DueFilter
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import TooSlowError
from tapestry.plan.predicate_keys import predicate_keys
from tapestry.predicate_index import store
from tapestry.predicate_index.store import index_entries
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree.printer import print_tql
from tapestry.run.execute import Subscription, execute
from tapestry.run.execute import matched_at_start as matched_at_start_of
from tapestry.run.windows import shared as shared_window_module
from tapestry.run.windows.own import explained
from tapestry.run.windows.shared import SharedWindow
from tests.laws import filter_laws
from tests.support.engines.memory_index import DictRows, NaiveLookup
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.engines.stored_rows import StoredRows
from tests.support.generators import random_filters, random_worlds, thread_filters
from tests.support.generators import rows as generated_rows
from tests.support.generators.random_worlds import World
from tests.support.work import counted


@dataclass
class Store:
    """The enrolled filters, and what they have delivered."""

    due: dict[int, DueFilter]
    delivered: set[tuple[int, str]]

    def enrolled(self, ids):
        return [self.due[i] for i in sorted(ids) if i in self.due]

    def known(self, pairs):
        return set(pairs) & self.delivered


def ran(*given, **options):
    window = SharedWindow(*given, history_complete=True, **options)
    window.run()
    return window


def shared_windows_deliver_what_the_oracle_does(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(aggregates=aggregates))
    queries = [world.query, draw.draw(random_filters.queries(depth=2, aggregates=aggregates))]
    queries += [draw.draw(random_filters.siblings(world.query)) for _ in range(2)]
    worlds = []
    for query in queries:
        filter_laws.compiled(query)
        start = draw.draw(st.sampled_from((None, world.schedule[0] - 1)))
        worlds.append(
            World(query, world.data, draw.draw(generated_rows.audiences), world.schedule, start)
        )
    with patch.object(shared_window_module, "MOST_ASKED", draw.draw(st.sampled_from((0, 100)))):
        assert delivered(worlds) == [filter_laws.expected(world) for world in worlds]


def delivered(worlds, rows_up_to=None):
    """Return what each world's runs find: the first one alone, the others together."""
    first, *rest = worlds[0].schedule
    data = worlds[0].data
    present = {row["audience"] for rows in data.values() for row in rows}
    engine, lookup = SqliteEngine(data), NaiveLookup(present)
    all_rows = DictRows(data)
    store = Store({}, set())
    asked = []
    for i, world in enumerate(worlds):
        text = print_tql(world.query)
        due = DueFilter(i, text, "terry", (), world.audiences, first, world.start)
        plan = compile_filter(text, Context("terry"))
        lookup.add(*index_entries(due, plan))
        store.due[i] = due
        since = BEGINNING if world.start is None else world.start
        asked.append(Subscription(i, plan, world.audiences, since, world.start))
    runs = [execute(engine, asked, first, store.known)]
    store.delivered |= {(m.filter_id, m.msgid) for m in runs[0]}
    since = first
    for until in rest:
        rows = rows_up_to(until) if rows_up_to else all_rows
        result = ran(engine, rows, lookup, store, since, until)
        assert not result.failed
        assert {due.filter_id for due in result.filters} == {m.filter_id for m in result.matches}
        runs.append(result.matches)
        store.delivered |= {(m.filter_id, m.msgid) for m in result.matches}
        since = until
    return [
        [filter_laws.times([m for m in matches if m.filter_id == i]) for matches in runs]
        for i, _ in enumerate(worlds)
    ]


with_and_without_aggregates = pytest.mark.parametrize(
    "aggregates", (False, True), ids=("plain", "aggregates")
)


@with_and_without_aggregates
def test_shared_windows_deliver_what_the_oracle_does(aggregates):
    filter_laws.check(shared_windows_deliver_what_the_oracle_does, 20, aggregates)


def test_a_filter_that_begins_at_the_first_of_all_instants_knows_what_matched_there():
    copies = [{"msgid": "m", "audience": a, "ts": ts} for a, ts in (("public", 0), ("user:al", 2))]
    data = {"messages": copies, "annotations": []}
    query = read("NOT m.ts < now()", Context())
    world = World(query, data, ("public", "user:al"), (1, 2), 0)
    assert delivered([world]) == [filter_laws.expected(world)] == [[{}, {}]]


@pytest.mark.long
@with_and_without_aggregates
def test_shared_windows_in_a_long_campaign(aggregates):
    filter_laws.check(shared_windows_deliver_what_the_oracle_does, 2000, aggregates)


def threads_in_shared_windows(draw: st.DataObject, aggregates: bool) -> None:
    one, *others = (draw.draw(thread_filters.worlds()) for _ in range(3))
    worlds = [replace(one, query=world.query, start=None) for world in (one, *others)]
    for world in worlds:
        filter_laws.compiled(world.query, most_delta_queries=40)
    with TemporaryDirectory() as root:
        rows = StoredRows(one.data, Path(root)).up_to if draw.draw(st.booleans()) else None
        assert delivered(worlds, rows) == [filter_laws.expected(world) for world in worlds]


def test_threads_in_shared_windows():
    filter_laws.check(threads_in_shared_windows, 25)


def stored_rows_give_every_key(draw: st.DataObject, aggregates: bool) -> None:
    world = draw.draw(random_worlds.worlds(aggregates=aggregates))
    queries = [draw.draw(random_filters.missing_annotations()) for _ in range(2)]
    worlds = [replace(world, query=query, start=None) for query in (world.query, *queries)]
    for query in (world.query, *queries):
        filter_laws.compiled(query)
    with TemporaryDirectory() as root:
        found = delivered(worlds, StoredRows(world.data, Path(root)).up_to)
    assert found == [filter_laws.expected(world) for world in worlds]


def test_stored_rows_give_every_key():
    filter_laws.check(stored_rows_give_every_key, 20)


@pytest.mark.long
def test_stored_rows_in_a_long_campaign():
    filter_laws.check(stored_rows_give_every_key, 1000)


MISSING = [
    "not voted for by jones",
    "2 days old not tagged spam",
    "m.msgid NOT IN (SELECT a.msgid FROM annotations a WHERE a.kind = 'vote')",
]


@pytest.mark.parametrize("text", MISSING)
def test_what_is_not_there_is_noticed_as_it_is_taken_back(text, tmp_path):
    note = {"msgid": "m0", "audience": "public"}
    vote = note | {"annid": "a0", "owner": "jones", "kind": "vote", "number": 1.0}
    tag = note | {"annid": "a1", "owner": "jones", "kind": "tag", "value": "spam"}
    taken_back = [
        note | {"annid": f"r{i}", "owner": "jones", "kind": "retraction", "value": f"a{i}"}
        for i in range(2)
    ]
    data = {
        "messages": [note | {"msgid": f"m{i}", "ts": ts} for i, ts in enumerate((1, 5 * DAY))],
        "annotations": [
            row | {"ts": ts}
            for rows, ts in (([vote, tag], 1), (taken_back, 4 * DAY))
            for row in rows
        ],
    }
    query = read(text, Context())
    for schedule in ((2, 9 * DAY), (2, 3 * DAY, 5 * DAY, 9 * DAY)):
        world = World(query, data, ("public",), schedule, None)
        found = delivered([world], StoredRows(data, tmp_path / str(len(schedule))).up_to)
        assert found == [filter_laws.expected(world)]
        assert set(found[0][-1]) | set(found[0][-2]) == {"m0", "m1"}


def shared_window(size):
    """Count the work of a shared window in which a filter, due since 0, finds ``size`` messages."""
    messages = [
        {"msgid": f"m{n}", "subject": f"no{size}", "audience": "public", "ts": 2}
        for n in range(size)
    ]
    engine = SqliteEngine({"messages": messages, "annotations": []})
    text = f"m.subject HAS 'no{size}'"
    due = DueFilter(0, text, "terry", (), ("public",), 1, 0)
    lookup, store = NaiveLookup({"public"}), Store({0: due}, set())
    lookup.add(*index_entries(due, compile_filter(text, Context("terry"))))
    rows = DictRows({"messages": messages, "annotations": []})
    with counted() as work:
        result = ran(engine, rows, lookup, store, 1, 3)
        matches = explained(result.matches, result.filters)
    assert {match.explanation for match in matches} == {f"about no{size}"}
    assert len(matches) == size
    return work.calls


def test_a_filter_is_compiled_once_however_many_messages_it_finds():
    with counted() as alone:
        compile_filter("m.subject HAS 'no'", Context("terry"))
    shared_window(1)
    assert shared_window(210) - shared_window(10) < 200 * alone.calls / 2


@pytest.mark.parametrize(
    "text",
    [
        "m.received < now() - 9 seconds",
        "m.received < now() - 9 seconds AND m.ts < now() - 3 seconds",
        "m.received > now() - 9 seconds AND m.received < now() - 2 seconds",
        "m.received < now() + 2 seconds",
        "EXISTS (r: r.inreplyto = m.msgid AND r.received < now() - 6 seconds)",
        "NOT EXISTS (r: r.inreplyto = m.msgid AND r.received > now() - 6 seconds)",
    ],
)
def test_what_was_old_on_arrival_is_found_whatever_the_windows(text):
    mail = [
        {"msgid": "m0", "ts": 5, "received": 1},
        {"msgid": "m1", "ts": 6, "inreplyto": "m0"},
        {"msgid": "m2", "ts": 20, "received": 2},
        {"msgid": "m3", "ts": 20, "received": 13, "inreplyto": "m2"},
        {"msgid": "m4", "ts": 24, "received": 20, "inreplyto": "m0"},
    ]
    rows = [
        row
        | {"audience": "public"}
        | {name: row[name] * SECOND for name in ("ts", "received") if name in row}
        for row in mail
    ]
    data = {"messages": rows, "annotations": []}
    for step in (1, 3, 7):
        schedule = tuple(at * SECOND for at in range(2, 44, step))
        world = World(read(text, Context()), data, ("public",), schedule, None)
        assert delivered([world]) == [filter_laws.expected(world)]


@pytest.mark.parametrize("broken", ["candidate_keys", "candidate_groups", "decide"])
@pytest.mark.parametrize("text", ["m.subject HAS 'lunch'", "NOT EXISTS (r: r.inreplyto = m.msgid)"])
def test_what_the_index_cannot_choose_is_evaluated_without_it(text, broken, monkeypatch):
    rows = [
        {"msgid": f"m{n}", "subject": "lunch", "audience": "public", "ts": n} for n in range(1, 9)
    ]
    world = World(
        read(text, Context()), {"messages": rows, "annotations": []}, ("public",), (3, 5, 9), None
    )

    def fails(*_):
        raise LookupError

    module = NaiveLookup if broken == "candidate_groups" else shared_window_module
    monkeypatch.setattr(module, broken, fails)
    assert delivered([world]) == [filter_laws.expected(world)]


class LimitedEngine(SqliteEngine):
    """Knows the limit of the statement that it runs."""

    seconds = None

    @contextmanager
    def limit(self, seconds):
        self.seconds = seconds
        yield
        self.seconds = None


def test_a_slow_question_about_t0_costs_the_filters_of_its_plan_alone(monkeypatch):
    rows = [
        {"msgid": "m0", "audience": "public", "ts": 1},
        {
            "msgid": "m1",
            "subject": "why",
            "size": 9,
            "inreplyto": "m0",
            "audience": "public",
            "ts": 4,
        },
    ]
    data = {"messages": rows, "annotations": []}
    engine, lookup, store = LimitedEngine(data), NaiveLookup({"public"}), Store({}, set())
    for number, condition in enumerate(("r.subject HAS 'why'", "r.size > 2", "r.size > 3")):
        text = f"EXISTS (r: r.inreplyto = m.msgid AND {condition})"
        due = DueFilter(number, text, "terry", (), ("public",), 3, 2)
        lookup.add(*index_entries(due, compile_filter(text, Context("terry"))))
        store.due[number] = due

    def matched_at_start(within, subscription, pairs):
        assert engine.seconds == 20
        if 0 in {filter_id for filter_id, _ in pairs}:
            raise TooSlowError("It takes more than 20 seconds.")
        return matched_at_start_of(within, subscription, pairs)

    monkeypatch.setattr(shared_window_module, "matched_at_start", matched_at_start)
    result = ran(engine, DictRows(data), lookup, store, 3, 5, seconds=20)
    assert set(result.expelled) == {0}
    assert [(match.filter_id, match.msgid) for match in result.matches] == [(1, "m0"), (2, "m0")]


ANSWERED = "EXISTS (r: r.inreplyto = m.msgid AND r.sender = 'joe@x.org')"


@pytest.mark.parametrize("forgotten", range(2))
def test_a_key_that_is_forgotten_is_noticed(forgotten, monkeypatch):
    question = {"msgid": "m0", "sender": "jill@x.org", "audience": "public"}
    answer = {"msgid": "m1", "sender": "joe@x.org", "inreplyto": "m0", "audience": "public"}
    orders = [
        {"messages": [question | {"ts": asked}, answer | {"ts": 7 - asked}], "annotations": []}
        for asked in (3, 4)
    ]
    query = read(ANSWERED, Context())
    runs = [[World(query, data, ("public",), (1, 3, 9), None)] for data in orders]
    true = [[filter_laws.expected(world) for world in run] for run in runs]
    assert true == [[[{}, {}, {"m0": 4}]]] * 2
    assert [delivered(run) for run in runs] == true

    def forgetful(disjunct, constants):
        keys = sorted(predicate_keys(disjunct, constants), key=str)
        return frozenset(keys[:forgotten] + keys[forgotten + 1 :])

    monkeypatch.setattr(store, "predicate_keys", forgetful)
    assert [delivered(run) for run in runs] != true
