"""The embedded engine answers as every engine does, and leaves to the other what it cannot."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, audiences_of
from tapestry.core.schema import ANNOTATIONS, COLUMNS, MESSAGES
from tapestry.embedded import engine as embedded
from tapestry.embedded.engine import EmbeddedEngine
from tapestry.embedded.functions import FUNCTIONS, UnsureError
from tapestry.embedded.local_rows import Limits, LocalRows
from tapestry.plan.compile import compile_filter, compile_query
from tapestry.plan.engine import require_running
from tapestry.query.context import Context
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute, execute_windows
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.keys.hash_runs import extend_index
from tests.spark.test_engine import FILTERS, OF_VOTES, ROWS, snapshot_of, subscriptions
from tests.suites.test_sqllogictest import DATA, check
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.engines.stored_rows import StoredRows
from tests.support.generators import random_filters, random_worlds, thread_filters

RETRACTION = {"annid": "r0", "msgid": "m0", "owner": "bob", "kind": "retraction", "value": "a0"}
TAKEN_BACK = ROWS | {
    ANNOTATIONS: [*ROWS[ANNOTATIONS], RETRACTION | {"ts": 3_500_000, "audience": "public"}]
}
BEFORE_LAST = (
    "m.to IN ('a', 'b') AND LAST_VALUE(m.size) OVER (PARTITION BY m.sender ORDER BY m.received DESC"
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
    " AMONG NOT EXISTS (r, a IN annotations: r.msgid <> a.msgid)) <> 1"
)
INSTANTS = [1_500_000, 3_000_000, 4_000_001, 30_000_000]


class Other:
    """The engine for what is left, and how often it was asked, with how many seconds."""

    def __init__(self, data=ROWS):
        self._data = data
        self.allowed = []
        self.views = []

    @contextmanager
    def limit(self, seconds):
        self.allowed.append(seconds)
        yield

    def fetch(self, statement):
        self.views.extend(statement.views)
        return SqliteEngine(self._data).fetch(statement)


def nobody():
    raise AssertionError("The statement was left to the other engine.")


def engine_of(data, directory, limits=None, open_other=nobody, made=snapshot_of):
    return EmbeddedEngine(LocalRows(made(data, directory), limits), open_other)


def indexed(data, root):
    """Return a snapshot of rows, of which the first half is in the index."""
    stored, tables = StoredRows(data, root), Tables(root)
    instants = sorted(row["ts"] for rows in data.values() for row in rows)
    stored.up_to(instants[len(instants) // 2])
    for table in COLUMNS:
        extend_index(tables, table)
    stored.up_to(instants[-1])
    return snapshot(tables)


@pytest.mark.parametrize(
    ("limits", "open_other"),
    [(None, nobody), (Limits(sent=0), lambda: Other(TAKEN_BACK))],
    ids=["whole tables", "looked up"],
)
def test_the_embedded_engine_delivers_what_the_plans_do(tmp_path, limits, open_other):
    engine, judge = engine_of(TAKEN_BACK, tmp_path, limits, open_other), SqliteEngine(TAKEN_BACK)
    texts = [*FILTERS, *OF_VOTES]
    asked = subscriptions([compile_filter(text, Context("alice")) for text in texts])
    expected = execute_windows(judge, asked, INSTANTS)
    assert execute_windows(engine, asked, INSTANTS) == expected
    assert {m.filter_id for run in expected for m in run} == set(range(len(texts)))
    live = subscriptions([compile_filter(text, Context("alice"), "general") for text in OF_VOTES])
    changes = change_windows(judge, live, INSTANTS, net=False)
    assert change_windows(engine, live, INSTANTS, net=False) == changes


@pytest.mark.parametrize("examples", [15, pytest.param(2_000, marks=pytest.mark.long)])
def test_random_filters_deliver_what_the_plans_do(tmp_path_factory, examples):
    ran = 0

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def same(draw):
        nonlocal ran
        world = draw.draw(random_worlds.counting_worlds())
        queries = [
            world.query,
            draw.draw(random_filters.queries()),
            draw.draw(random_filters.queries(aggregates=True)),
            draw.draw(thread_filters.queries()),
        ]
        plans = []
        for query in queries:
            try:
                plan = compile_query(query, draw.draw(st.sampled_from(["fast", "general"])))
            except TapestryError:
                continue
            if len(plan.query.delta_queries) <= 12:
                plans.append(plan)
        ran += len(plans)
        asked = subscriptions(plans)
        limits, other = draw.draw(st.sampled_from([None, Limits(sent=0)])), Other(world.data)
        made = draw.draw(st.sampled_from([indexed, snapshot_of]))
        directory = tmp_path_factory.mktemp("some")
        engine = engine_of(world.data, directory, limits, lambda: other, made)
        judge = SqliteEngine(world.data)
        instants = sorted({row["ts"] for rows in world.data.values() for row in rows})[::3]
        instants.append(10**12)
        assert execute_windows(engine, asked, instants) == execute_windows(judge, asked, instants)
        assert limits or not other.views, "of whole tables it answers all"

    same()
    assert ran >= examples


def test_expressions_mean_what_they_mean_in_sql(tmp_path):
    check(engine_of(DATA, tmp_path, open_other=lambda: Other(DATA)), 100)


def left(tmp_path, data=ROWS, text="m.subject HAS 'test'"):
    """Run a filter, and return whether the other engine was asked."""
    other = Other(data)
    engine = engine_of(data, tmp_path, open_other=lambda: other)
    asked = subscriptions([compile_filter(text, Context("alice"))])
    expected = execute(SqliteEngine(data), asked, 10**12, lambda _: set())
    assert execute(engine, asked, 10**12, lambda _: set()) == expected
    return bool(other.allowed)


def test_a_statement_over_few_rows_opens_no_other_engine(tmp_path):
    assert not left(tmp_path)


@pytest.mark.parametrize(
    ("limit", "least"), [("MOST_ROWS", 11), ("MOST_ROWS", 2), ("MOST_BYTES", 100)]
)
def test_what_has_many_rows_is_left(tmp_path, monkeypatch, limit, least):
    monkeypatch.setattr(embedded, limit, least)
    assert left(tmp_path)


def test_what_takes_long_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "MOST_SECONDS", -1.0)
    monkeypatch.setattr(embedded, "STEPS", 1)
    assert left(tmp_path)


def test_a_message_without_reply_is_looked_up_among_many_not_scanned_for(tmp_path, monkeypatch):
    """Time is what SQLite does: a scan for each message would take sixteen million steps."""
    monkeypatch.setattr(time, "thread_time", count().__next__)
    monkeypatch.setattr(embedded, "MOST_SECONDS", 1_000_000 / embedded.STEPS)
    rows = [
        {
            "msgid": f"m{i}",
            "ts": 1,
            "audience": "public",
            "inreplyto": f"m{i - 1}" if i % 2 else None,
        }
        for i in range(4_000)
    ]
    engine = engine_of({MESSAGES: rows, ANNOTATIONS: []}, tmp_path)
    asked = subscriptions([compile_filter("NOT EXISTS (r: r.inreplyto = m.msgid)", Context("joe"))])
    assert len(execute(engine, asked, 10**12, lambda _: set())) == 2_000


def test_rows_that_a_filter_only_asks_for_are_not_multiplied(tmp_path, monkeypatch):
    """Time is what SQLite does: all fives of messages of a sender take eleven million steps."""
    monkeypatch.setattr(time, "thread_time", count().__next__)
    monkeypatch.setattr(embedded, "MOST_SECONDS", 4_000_000 / embedded.STEPS)
    of_all = {"audience": "public", "sender_name": ""}
    rows = [
        {**of_all, "msgid": f"m{i}", "ts": i + 1, "received": i + 1, "sender": f"s{i % 2}@x.org"}
        | {"to": ["a"], "size": i % 3}
        for i in range(20)
    ]
    vote = {"msgid": "m0", "ts": 18, "owner": "bob", "kind": "vote", "audience": "public"}
    notes = [{**vote, "annid": f"a{i}", "number": 1.0} for i in range(3)]
    engine = engine_of({MESSAGES: rows, ANNOTATIONS: notes}, tmp_path)
    asked = subscriptions([compile_filter(BEFORE_LAST, Context("joe"))])
    assert execute(engine, [replace(asked[0], since=16)], 25, lambda _: set()) == []


def test_the_last_of_all_mail_are_found_among_the_newest(tmp_path):
    rows = [
        {"msgid": f"m{i}", "ts": i, "received": i, "size": i % 2, "audience": "public"}
        for i in range(1, 22_000)
    ]
    rows[-1]["received"] = 5
    engine = engine_of({MESSAGES: rows, ANNOTATIONS: []}, tmp_path)
    (asked,) = subscriptions([compile_filter("m IN LAST 3 AMONG m.size = 1", Context("joe"))])
    found = execute(engine, [replace(asked, since=21_990)], 10**12, lambda _: set())
    assert [match.msgid for match in found] == [f"m{i}" for i in (21_991, 21_993, 21_995, 21_997)]


@pytest.mark.parametrize("letter", ["\ua640", "\U00016e40"], ids=["of 2008", "of 2018"])
def test_letters_that_another_unicode_may_see_otherwise_are_left(tmp_path, letter):
    row = {"msgid": "m", "ts": 1, "subject": f"test {letter}", "audience": "public"}
    assert left(tmp_path, ROWS | {MESSAGES: [row]})
    with pytest.raises(UnsureError):
        FUNCTIONS["text_lower"](letter)


def test_a_number_that_is_none_is_left(tmp_path):
    vote = {"annid": "a", "ts": 1, "msgid": "m0", "number": float("nan"), "audience": "public"}
    text = "EXISTS (a IN annotations: a.msgid = m.msgid AND a.number > 5)"
    other = Other()
    engine = engine_of(ROWS | {ANNOTATIONS: [vote]}, tmp_path, open_other=lambda: other)
    asked = subscriptions([compile_filter(text, Context("alice"))])
    execute(engine, asked, 10**12, lambda _: set())
    assert other.allowed


def test_the_engine_answers_again_after_a_statement_that_it_left(tmp_path, monkeypatch):
    engine = engine_of(ROWS, tmp_path, open_other=Other)
    asked = subscriptions([compile_filter("m.subject HAS 'test'", Context("alice"))])
    expected = execute(engine, asked, 10**12, lambda _: set())
    with monkeypatch.context() as patched:
        patched.setattr(embedded, "sqlite_sql", lambda _: "SELECT 1 FROM nowhere")
        assert execute(engine, asked, 10**12, lambda _: set()) == expected
    engine._other = nobody
    assert execute(engine, asked, 10**12, lambda _: set()) == expected != []


def test_whether_the_other_engine_runs_is_asked_of_that_one(tmp_path):
    other = Other()
    require_running(engine_of(ROWS, tmp_path, open_other=lambda: other))
    (seconds,) = other.allowed
    assert seconds <= 45


def test_what_time_is_left_is_the_other_engines(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "MOST_ROWS", 0)
    instants = iter([100.0, 104.0, 111.0, 111.0])  # it takes seven seconds to open the other
    monkeypatch.setattr(time, "monotonic", lambda: next(instants))
    other = Other()
    engine = engine_of(ROWS, tmp_path, open_other=lambda: other)
    asked = subscriptions([compile_filter("from joe", Context("alice"))])
    with engine.limit(10.0):
        execute(engine, asked, 10**12, lambda _: set())
    assert other.allowed == [6.0]


@pytest.mark.parametrize("seed", range(3))
def test_new_senders_are_new_to_each_who_may_see_their_mail(tmp_path, seed):
    chance = random.Random(seed)
    mail = [
        {
            "msgid": f"m{n}",
            "sender": f"s{chance.randrange(30)}",
            "audience": chance.choice([PUBLIC, "user:ann", "user:bob", "group:parc"]),
            "ts": 10 * (n // 4) + 10,
            "received": chance.randrange(n + 1),
        }
        for n in range(120)
    ]
    readers = [audiences_of("ann"), audiences_of("bob", ["parc"]), (PUBLIC,)]
    plan, data = compile_filter("from new senders", Context()), {MESSAGES: mail}
    asked = [Subscription(n, plan, seen, BEGINNING) for n, seen in enumerate(readers)]
    engine = engine_of(data, tmp_path, Limits(sent=0), made=indexed)
    found = execute_windows(engine, asked, [50, 180, 200, 1000])
    assert found == execute_windows(SqliteEngine(data), asked, [50, 180, 200, 1000])
    assert {match.filter_id for run in found[1:] for match in run} == {0, 1, 2}


def test_what_one_statement_reads_of_a_sender_is_not_all_that_another_does(tmp_path):
    """Each of a snapshot's statements by turns, over what the ones before it have read."""
    mail = [
        {
            "msgid": f"m{n}",
            "sender": "joe",
            "audience": ("user:bob", "group:parc", "user:ann", "user:ann")[n],
            "ts": 10 * n + 10,
            "received": n,
            "size": 9 - n,
        }
        for n in range(4)
    ]
    larger = "NOT EXISTS (p: p.sender = m.sender AND p.ts < m.ts AND p.size > m.size)"
    plans = [compile_filter(text, Context()) for text in ("from new senders", larger)]
    readers = [("user:ann",), ("user:ann", "group:parc"), ("user:ann", "user:bob")]
    asked = [Subscription(0, plan, seen, 20) for plan in plans for seen in readers]
    data = {MESSAGES: mail}
    for name, order in {"there": asked, "back": asked[::-1]}.items():
        engine = engine_of(data, tmp_path / name, Limits(sent=0), made=indexed)
        for subscription in order:
            expected = execute(SqliteEngine(data), [subscription], 40, lambda pairs: set())
            assert execute(engine, [subscription], 40, lambda pairs: set()) == expected
