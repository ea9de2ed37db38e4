"""The lanes: what is proven, what is slow, whose turn it is; on sqlite, with a store in memory."""

import shutil
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.core.surroundings import NobodysFaultError
from tapestry.plan.engine import TooSlowError
from tapestry.run import lanes
from tapestry.run.lane_limits import LaneLimits
from tapestry.run.lanes import join_shared, run_proven, run_shared, run_unproven
from tapestry.run.limits.window_cut import cut, half
from tapestry.run.resources import Resources
from tapestry.run.unproven import Portion, Portions, Turns
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.write.append import advance_watermark, append_messages
from tests.support.clocks import MemoryClock
from tests.support.engines.sqlite_engine import SqliteEngine, engine_of
from tests.support.memory_store import MemoryStore

LIMITS = LaneLimits(light=60.0)
SLOW = "about slow with no reply"


class Slow(SqliteEngine):
    """An engine that takes too long over the constant ``slow`` and more than two messages."""

    def fetch(self, statement):
        rows = super().fetch(statement)
        windows = [row[2:4] for r in statement.relations for row in r.rows if "slow" in str(row)]
        for since, until in windows:
            new = "SELECT count(*) FROM messages WHERE ts > ? AND ts <= ?"
            if self.db.execute(new, [since, until]).fetchone()[0] > 2:
                raise TooSlowError("It takes more than 20 seconds to run.")
        return rows


class LaneStore(MemoryStore):
    """Keeps the window's end of a partial run, as the database does."""

    def due(self, now):
        due = [d for d in super().due(now) if d.since < now and d.filter_id not in self.failed]
        return [replace(d, proven=d.proven) for d in due]


def append(mail, messages):
    tables, clock = mail
    append_messages(tables, clock, messages)


@pytest.fixture
def mail(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    append_messages(tables, clock, [Message("a@x", subject="slow lunch")])
    return tables, clock


def shared(mail, store, kind=SqliteEngine):
    until = advance_watermark(*mail)
    run_shared(Resources(engine_of(kind), mail[0], store, LIMITS), until)


def unproven(mail, store, kind=SqliteEngine, turns=None, limits=LIMITS):
    turns = turns or Turns()
    resources = Resources(engine_of(kind), mail[0], store, limits)
    return list(run_unproven(resources, turns, most_seconds=60))


def own(mail, store, kind=SqliteEngine, hold=lambda: nullcontext(True)):
    resources = Resources(engine_of(kind), mail[0], store, LIMITS)
    run = run_proven(resources, store.shared_since())
    join_shared(resources, run, hold)
    return run


def enroll_both(mail, store, message):
    """Run two new filters until both share the window; a message arrives meanwhile."""
    shared(mail, store)
    unproven(mail, store)
    own(mail, store)
    append(mail, [message])
    shared(mail, store)
    own(mail, store)
    assert store.enrolled_ids == {0, 1}


def found(store):
    return sorted((match.filter_id, match.msgid) for match in store.matches)


def test_a_new_filter_is_run_apart_then_joins_and_loses_nothing(mail):
    store = LaneStore(lunch="about lunch")
    shared(mail, store)
    assert own(mail, store).filters == ()  # it is not proven
    unproven(mail, store)
    assert store.filters[0].proven
    append(mail, [Message("b@x", subject="lunch")])
    shared(mail, store)  # it has not joined yet: its own window is open
    assert found(store) == [(0, "a@x")]
    append(mail, [Message("c@x", subject="lunch")])

    @contextmanager
    def behind():  # the shared window goes on while the filter waits for it
        shared(mail, store)
        yield True

    own(mail, store, hold=behind)
    assert store.enrolled_ids == {0}
    append(mail, [Message("d@x", subject="lunch")])
    shared(mail, store)
    assert found(store) == [(0, f"{name}@x") for name in "abcd"]


def test_a_filter_that_cannot_hold_the_shared_lane_joins_later(mail):
    store = LaneStore(lunch="about lunch")
    shared(mail, store)
    unproven(mail, store)
    append(mail, [Message("b@x", subject="lunch")])
    shared(mail, store)
    own(mail, store, hold=lambda: nullcontext(False))
    assert store.enrolled_ids == set()
    append(mail, [Message("c@x", subject="lunch")])
    shared(mail, store)
    own(mail, store)
    assert store.enrolled_ids == {0}
    assert found(store) == [(0, "a@x"), (0, "b@x"), (0, "c@x")]


def test_one_that_fails_as_it_asks_whether_it_may_join_keeps_no_other_from_it(mail):
    class Failing(LaneStore):
        def held_out(self, ids):
            if 0 in ids:
                raise KeyError(0)
            return super().held_out(ids)

    store = Failing(lunch="about lunch", tea="about tea")
    shared(mail, store)
    unproven(mail, store)
    append(mail, [Message("b@x", subject="tea")])
    shared(mail, store)
    own(mail, store)
    assert store.enrolled_ids == {1} and set(store.expelled) == {0}


def test_all_are_entered_again_where_a_filter_is_the_first_to_join_a_lost_index(
    mail,
):
    store = LaneStore(lunch="about lunch", tea="about tea")
    enroll_both(mail, store, Message("b@x", subject="lunch"))
    store.detach([1])
    append(mail, [Message("c@x", subject="lunch")])
    shared(mail, store)
    shutil.rmtree(mail[0].root / "predicate_index")  # as in a backup that was restored
    own(mail, store)
    append(mail, [Message("d@x", subject="lunch")])
    for _ in range(2):
        shared(mail, store)
        own(mail, store)
    assert found(store) == [(0, f"{name}@x") for name in "abcd"]
    assert store.enrolled_ids == {0, 1}


def test_a_slow_shared_window_gives_the_slow_filter_back_and_keeps_the_others(mail):
    store = LaneStore(slow=SLOW, lunch="from joe")
    enroll_both(mail, store, Message("b@x"))
    for name in "cdef":
        append(mail, [Message(f"{name}@x", subject="slow", sender="joe@x")])
    shared(mail, store, Slow)
    assert store.enrolled_ids == {1}
    assert not store.filters[0].proven
    assert [pair for pair in found(store) if pair[0] == 1] == [(1, f"{n}@x") for n in "cdef"]


def test_a_slow_proven_filter_holds_up_those_of_its_owner_alone(mail):
    for name in "bcd":
        append(mail, [Message(f"{name}@x", subject="slow")])
    store = LaneStore(slow=SLOW, same="about lunch", other="about lunch")
    shared(mail, store)
    store.prove(range(3), proven=True)
    store.filters[2] = replace(store.filters[2], owner="bob")
    own(mail, store, Slow)
    assert found(store) == [(2, "a@x")]
    assert [due.proven for due in store.filters.values()] == [False, False, True]
    assert store.failed == {} and store.enrolled_ids == {2}


def test_a_filter_too_slow_over_its_window_is_run_over_parts_of_it(mail):
    for name in "bcdef":
        append(mail, [Message(f"{name}@x", subject="slow")])
    store = LaneStore(slow=SLOW, quick="about lunch")
    shared(mail, store)
    unproven(mail, store, Slow)
    assert found(store) == [*((0, f"{name}@x") for name in "abcdef"), (1, "a@x")]
    assert store.failed == {}


def test_a_filter_too_slow_over_any_part_is_set_aside_and_no_other(mail):
    append(mail, [Message(f"{n}@x", subject="slow") for n in range(3)])
    append(mail, [Message("lunch@x", subject="lunch")])
    store = LaneStore(slow=SLOW, quick="about lunch")
    shared(mail, store)
    unproven(mail, store, Slow)
    assert store.failed == {0: "It takes more than 20 seconds to run."}
    assert found(store) == [(0, "a@x"), (1, "a@x"), (1, "lunch@x")]


def test_a_slow_live_filter_begins_with_its_whole_answer_or_not_at_all(mail):
    for name in "bcdef":
        append(mail, [Message(f"{name}@x", subject="slow")])
    store = LaneStore(live=True, slow=SLOW)
    shared(mail, store)
    assert not any(run.filters for run in unproven(mail, store, Slow))
    assert store.failed == {0: "It takes more than 20 seconds to run."}
    assert store.changes == []


def test_a_live_filter_that_has_begun_is_run_over_parts_of_its_window(mail):
    store = LaneStore(live=True, slow=SLOW)
    shared(mail, store)
    unproven(mail, store)
    for name in "bcdef":
        append(mail, [Message(f"{name}@x", subject="slow")])
    shared(mail, store)
    store.prove([0], proven=False)
    unproven(mail, store, Slow)
    assert [change.msgid for change in store.changes] == [f"{name}@x" for name in "abcdef"]
    assert store.failed == {}


def test_owners_take_turns_by_the_time_they_have_used():
    turns = Turns()
    with turns.next({"ann", "bob"}) as first, turns.next({"ann", "bob"}) as second:
        assert {first, second} == {"ann", "bob"}
        with turns.next({"ann", "bob"}) as third:
            assert third is None
    turns._used["ann"] = (60.0, turns._used["ann"][1])
    with turns.next({"ann", "bob"}) as owner:
        assert owner == "bob"


def test_filters_that_are_run_alone_and_those_together_take_turns():
    store = MemoryStore(**dict.fromkeys("abcd", "about lunch"))
    due, portions = list(store.filters.values()), Portions()
    assert portions.choose(due) == (due, None)
    for filter_ in due[:2]:
        portions.alone[filter_.filter_id, filter_.revision, None] = Portion()
    chosen = [[f.filter_id for f in portions.choose(due)[0]] for _ in range(4)]
    assert chosen == [[0], [2, 3], [1], [2, 3]]


def test_a_window_is_cut_by_its_new_rows(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    ends = [
        # Ten messages, and ten facts of their threads.
        append_messages(tables, clock, [Message(f"{n}.{i}@x") for i in range(10)]).ts
        for n in range(5)
    ]
    seen = snapshot(tables)
    assert cut(seen, 0, ends[-1], 1000) == ends[-1]
    assert cut(seen, 0, ends[-1], 45) in range(ends[1], ends[2])
    assert cut(seen, ends[0] - 1, ends[-1], 1) == ends[0]  # the rows of an append stay together
    middle = half(seen, 0, ends[-1])
    assert middle is not None and ends[1] <= middle < ends[3]
    assert half(seen, ends[1], ends[2]) is None or half(seen, ends[1], ends[2]) < ends[2]


def test_of_those_whose_matches_cannot_be_stored_only_the_guilty_one_is_expelled(mail):
    names = ("one", "two", "three", "four", "guilty")
    store = LaneStore(**dict.fromkeys(names, "about lunch"))
    store.since, store.enrolled_ids = 0, set(range(5))

    def commit_shared(since, until, filters, matches):
        if any(due.filter_id == 4 for due in filters):
            raise KeyError
        return True

    store.commit_shared = commit_shared
    lanes._commit_shared(store, 0, 9, store.enrolled(range(5)), [], 0)
    assert store.expelled == {} and store.enrolled_ids == {0, 1}, "its own window finds it"
    lanes._commit_shared(store, 0, 9, [store.filters[4]], [], 0)
    assert set(store.expelled) == {4}


def test_an_engine_that_comes_up_meanwhile_fails_no_filter(mail):
    by_engine = "NOT m.subject LIKE '%, and more'"
    texts = {word: f"m.subject HAS '{word}' AND {by_engine}" for word in ("lunch", "tea")}
    store = LaneStore(**texts)
    enroll_both(mail, store, Message("b@x", subject="lunch and tea"))
    append(mail, [Message("c@x", subject="lunch and tea")])
    refusals = iter(range(2))

    def engine_on(seen):
        if next(refusals, None) is not None:
            raise TapestryError("Spark does not answer.")
        return engine_of(SqliteEngine)(seen)

    until = advance_watermark(*mail)
    with pytest.raises(NobodysFaultError):
        run_shared(Resources(engine_on, mail[0], store, LIMITS), until)
    assert store.failed == {} and store.enrolled_ids == {0, 1}
    shared(mail, store)
    assert {(0, "c@x"), (1, "c@x")} <= set(found(store))
