"""One run of what is due, on sqlite, with a store in memory."""

import logging
import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tapestry.core.clock import BEGINNING, HOUR
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.core.ports import DueFilter
from tapestry.plan.engine import TooManyError
from tapestry.predicate_index import store as index_store
from tapestry.predicate_index.store import PredicateIndex
from tapestry.run.resources import Resources
from tapestry.run.tick import tick
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock
from tests.support.engines.sqlite_engine import SqliteEngine, engine_of
from tests.support.memory_store import MemoryStore

MEALS = ("lunch", "dinner")


BY_ENGINE = "NOT m.subject LIKE '%, and more'"
"""What the messages here meet, and postings do not decide: it takes a statement."""


class Poisoned(SqliteEngine):
    """An engine that cannot answer what holds the constant ``poison``."""

    def fetch(self, statement):
        if any("poison" in str(relation.rows) for relation in statement.relations):
            raise TapestryError("Spark did not answer.")
        return super().fetch(statement)


class Narrow(SqliteEngine):
    """An engine that gives no more than three answers at once."""

    def fetch(self, statement):
        rows = super().fetch(statement)
        if len(rows) > 3:
            raise TooManyError(3, sorted(row[4] for row in rows)[len(rows) // 2])
        return rows


def append(mail, messages):
    tables, clock = mail
    append_messages(tables, clock, messages)


@pytest.fixture
def mail(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    append_messages(tables, clock, [Message("a@x", subject="lunch"), Message("b@x")])
    return tables, clock


def run(mail, store, kind=SqliteEngine):
    tables, clock = mail
    return tick(Resources(engine_of(kind), tables, store), clock)


def test_it_delivers_each_message_once(mail):
    store = MemoryStore(lunch="about lunch", nothing="NOT m.sender = 'joe'")
    assert {(m.filter_id, m.msgid) for m in run(mail, store).matches} == {(0, "a@x")}
    append(mail, [Message("c@x", subject="lunch", inreplyto="a@x")])
    assert [(m.filter_id, m.msgid) for m in run(mail, store).matches] == [(0, "c@x")]
    assert run(mail, store).matches == ()


def test_a_live_filter_tells_what_its_answer_gains_and_loses(mail):
    store = MemoryStore(live=True, open="with no reply", answered="replied to")
    run(mail, store)
    append(mail, [Message("c@x", inreplyto="a@x")])
    report = run(mail, store)
    assert [(c.filter_id, c.op, c.msgid) for c in report.changes] == [
        (0, "delete", "a@x"),
        (0, "insert", "c@x"),
        (1, "insert", "a@x"),
    ]
    assert report.changes[2].evidence == ("c@x",)
    assert report.changes[2].explanation == "replied to"
    assert store.changes[-3:] == list(report.changes)
    assert store.matches == []


def test_a_filter_that_does_not_compile_is_left_where_it_stands(mail):
    store = MemoryStore(bad="about", good="about lunch")
    report = run(mail, store)
    assert (report.filters, report.failed, len(report.matches)) == (1, 1, 1)
    assert store.filters[0].since == BEGINNING
    assert store.failed == {} and 0 in store.aside


def test_a_filter_that_cannot_be_run_does_not_stop_the_others(mail):
    store = MemoryStore(bad="m.subject = 'poison' OR m.size > 1", good="about lunch")
    report = run(mail, store, Poisoned)
    assert [(m.filter_id, m.msgid) for m in report.matches] == [(1, "a@x")]
    assert store.failed == {0: "Spark did not answer."}
    assert store.filters[0].since == BEGINNING
    assert store.filters[1].since == report.until


class Dead(SqliteEngine):
    """An engine that answers nothing."""

    def fetch(self, statement):
        raise TapestryError("Spark did not answer.")


def test_where_nothing_can_be_run_the_run_fails(mail):
    store = MemoryStore(good="about lunch")
    with pytest.raises(TapestryError, match="did not answer"):
        run(mail, store, Dead)
    assert store.filters[0].since == BEGINNING
    assert store.failed == {}


def test_where_nothing_can_be_run_no_enrolled_filter_is_to_blame(mail):
    store = MemoryStore(good=f"m.subject HAS 'lunch' AND {BY_ENGINE}")
    since = run(mail, store).until
    append(mail, [Message("c@x", subject="lunch")])
    with pytest.raises(TapestryError, match="did not answer"):
        run(mail, store, Dead)
    assert (store.since, store.failed) == (since, {})
    assert [m.msgid for m in run(mail, store).matches] == ["c@x"]


def test_enrolled_filters_of_a_messages_own_words_need_no_engine(mail):
    store = MemoryStore(good="about lunch", other="from joe@x.org")
    run(mail, store)
    append(mail, [Message("c@x", sender="joe@x.org"), Message("d@x", subject="lunch")])
    matches = {(m.filter_id, m.msgid) for m in run(mail, store, Dead).matches}
    assert matches == {(0, "d@x"), (1, "c@x")}


def test_of_a_filter_from_now_on_no_engine_is_asked_what_new_mail_matched_before(mail):
    store = MemoryStore(lunch="about lunch")
    store.filters[0] = replace(store.filters[0], since=HOUR, start=HOUR)
    run(mail, store)
    append(mail, [Message("c@x", subject="lunch")])
    assert [m.msgid for m in run(mail, store, Dead).matches] == ["c@x"]


def test_a_filter_that_fails_alone_does_not_stop_those_that_are_enrolled(mail):
    store = MemoryStore(good="about lunch")
    run(mail, store)
    store.filters[1] = DueFilter(
        1, "m.subject = 'poison'", "alice", (), ("public",), BEGINNING, None
    )
    append(mail, [Message("c@x", subject="lunch")])
    report = run(mail, store, Poisoned)
    assert [(m.filter_id, m.msgid) for m in report.matches] == [(0, "c@x")]
    assert store.failed == {1: "Spark did not answer."}


def test_an_enrolled_filter_that_cannot_be_run_does_not_stop_the_others(mail):
    store = MemoryStore(bad=f"m.subject = 'poison' AND {BY_ENGINE}", good="about lunch")
    run(mail, store)
    append(mail, [Message("d@x", subject="poison"), Message("e@x", subject="lunch")])
    assert [m.msgid for m in run(mail, store, Poisoned).matches] == ["e@x"]
    assert store.failed == {0: "Spark did not answer."}


def enrolled_by_version_1(root):
    """Put an index of the version before, with other columns, in place of the present one."""
    shutil.rmtree(root / "predicate_index")
    names = ["fid", "revision", "disjunct", "offset", "key", "alike"]
    texts = ["signature", "constants", "audiences", "probe", "token"]
    columns = {name: [0] for name in names} | {name: ["about lunch"] for name in texts}
    write_deltalake(str(root / "predicate_index" / "entries-1"), pa.table(columns))
    texts = pa.table({"signature": ["s"], "text": ["about lunch"]})
    write_deltalake(str(root / "predicate_index" / "examples-1"), texts)


def test_an_index_of_another_version_counts_as_missing_and_is_made_anew(mail):
    store = MemoryStore(lunch="about lunch")
    run(mail, store)
    root = mail[0].root
    enrolled_by_version_1(root)
    append(mail, [Message("c@x", subject="lunch")])
    assert [m.msgid for m in run(mail, store).matches] == ["c@x"]
    assert store.enrolled_ids == {0}
    assert not list((root / "predicate_index").glob("*-1"))
    assert PredicateIndex(root).files()
    append(mail, [Message("d@x", subject="lunch")])
    assert [m.msgid for m in run(mail, store).matches] == ["d@x"]


def test_versions_with_other_indexes_take_turns_and_find_each_message_once(mail, monkeypatch):
    store = MemoryStore(lunch="about lunch", dinner="about dinner")
    run(mail, store)
    for number, version in enumerate([5, 6, 6, 5, 5, 6]):
        monkeypatch.setattr(index_store, "VERSION", version)
        append(mail, [Message(f"{word}{number}@x", subject=word) for word in MEALS])
        matches = sorted((m.filter_id, m.msgid) for m in run(mail, store).matches)
        assert matches == [(0, f"lunch{number}@x"), (1, f"dinner{number}@x")]
    assert store.enrolled_ids == {0, 1}


def test_filters_for_which_the_index_has_no_room_run_by_themselves(mail, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "tapestry")
    monkeypatch.setattr(index_store, "MOST_ENTRIES", 1)
    store = MemoryStore(lunch="about lunch", dinner="about dinner", mary="from mary")
    run(mail, store)
    assert len(store.enrolled_ids) == 1
    for n in range(3):
        append(mail, [Message(f"{word}{n}@x", subject=word) for word in MEALS])
        matches = {(m.filter_id, m.msgid) for m in run(mail, store).matches}
        assert matches == {(0, f"lunch{n}@x"), (1, f"dinner{n}@x")}
    assert store.failed == {}
    refused = [line for line in caplog.messages if line.startswith("not_enrolled ")]
    assert len(refused) == 4
    assert refused[-1] == (
        'not_enrolled filters=2 error="The predicate index is full: it holds 1 entries at most, '
        'and 2 filters are not in it."'
    )


def test_there_is_room_again_when_filters_are_gone(mail, monkeypatch):
    monkeypatch.setattr(index_store, "MOST_ENTRIES", 1)
    monkeypatch.setattr(index_store, "SHRINK_EVERY", -1)
    store = MemoryStore(lunch="about lunch", dinner="about dinner")
    run(mail, store)
    (gone,) = store.enrolled_ids
    store.enrolled_ids.clear()
    del store.filters[gone]
    for _ in range(2):
        append(mail, [Message(f"{len(store.matches)}@x")])
        run(mail, store)
    assert store.enrolled_ids == {0, 1} - {gone}


def test_each_run_is_one_line_in_the_log(mail, caplog):
    caplog.set_level(logging.INFO, "tapestry")
    store = MemoryStore(lunch="about lunch", nothing="NOT m.sender = 'joe'", bad="about secrets )")
    report = run(mail, store)
    assert [line for line in caplog.messages if line.startswith("tick ")] == [
        f"tick until={report.until} own=2 shared=0 matches=1 changes=0 failed=1 committed=true "
        f"seconds={report.seconds:.3f}"
    ]
    assert [line for line in caplog.messages if line.startswith("refused ")] == [
        'refused filter_id=2 error="Its text does not compile."'
    ]
    append(mail, [Message("c@x", subject="secret lunch")])
    run(mail, store)
    assert " own=0 shared=1 matches=1 " in caplog.messages[-1]
    assert "secret" not in caplog.text and "lunch" not in caplog.text


def test_a_filter_that_the_engine_cannot_run_is_one_line_in_the_log(mail, caplog):
    caplog.set_level(logging.INFO, "tapestry")
    store = MemoryStore(bad="m.subject = 'poison'")
    run(mail, store, Poisoned)
    assert 'refused filter_id=0 error="Spark did not answer."' in caplog.messages
    assert "poison" not in caplog.text


def test_filters_are_entered_again_where_the_index_is_lost(mail):
    store = MemoryStore(lunch="about lunch")
    run(mail, store)
    shutil.rmtree(mail[0].root / "predicate_index")
    append(mail, [Message("c@x", subject="lunch")])
    assert [m.msgid for m in run(mail, store).matches] == ["c@x"]
    assert store.enrolled_ids == {0}
    append(mail, [Message("d@x", subject="lunch")])
    assert [m.msgid for m in run(mail, store).matches] == ["d@x"]


def test_what_a_filter_may_see_now_counts_even_if_nobody_told_the_index(mail):
    store = MemoryStore(lunch="about lunch")
    run(mail, store)
    store.filters[0] = replace(store.filters[0], audiences=("public", "user:alice"))
    append(
        mail,
        [Message("c@x", subject="lunch"), Message("d@x", subject="lunch", audience="user:alice")],
    )
    assert {m.msgid for m in run(mail, store).matches} == {"c@x", "d@x"}
    assert store.filters[0].revision == 1 and store.enrolled_ids == {0}
    assert run(mail, store).matches == ()


def test_filters_whose_signature_has_changed_run_by_themselves_again(mail, monkeypatch):
    store = MemoryStore(lunch="about lunch")
    run(mail, store)
    monkeypatch.setattr(
        "tapestry.plan.signature.Signature.name", property(lambda signature: "other")
    )
    append(mail, [Message("c@x", subject="lunch")])
    assert [m.msgid for m in run(mail, store).matches] == ["c@x"]
    assert run(mail, store).matches == ()


def test_filters_that_no_new_row_concerns_are_not_run(mail):
    lunch, dinner = (f"m.subject HAS '{word}' AND {BY_ENGINE}" for word in ("lunch", "dinner"))
    store = MemoryStore(lunch=lunch, dinner=dinner, old="two weeks old")
    run(mail, store)
    asked = []

    class Counting(SqliteEngine):
        def fetch(self, statement):
            asked.append(statement)
            return super().fetch(statement)

    run(mail, store, Counting)
    append(mail, [Message("c@x", subject="tea")])
    run(mail, store, Counting)
    assert asked == []
    append(mail, [Message("d@x", subject="dinner")])
    assert [m.filter_id for m in run(mail, store, Counting).matches] == [1]
    rows = [row for s in asked for relation in s.relations for row in relation.rows]
    assert all("lunch" not in str(row) for row in rows)
    assert rows


def test_a_window_that_another_run_took_is_not_stored(mail):
    store = MemoryStore(lunch="about lunch")
    taken = store.filters[0]
    store.due = lambda now: [taken]
    run(mail, store)
    report = run(mail, store)
    assert not report.committed
    assert len(store.matches) == 1


def many(numbers):
    return [Message(f"{n}@x", subject="lunch" if n % 2 else "tea", size=n) for n in numbers]


def until_done(mail, store):
    """Run until nothing is found any more; return how many matches each run had."""
    counts = []
    while not counts or counts[-1]:
        counts.append(len(run(mail, store, Narrow).matches))
    return counts


def test_what_finds_too_much_at_once_is_run_in_parts(mail):
    for n in range(9):
        append(mail, many([n]))
    store = MemoryStore(all="m.size >= 0", lunch="about lunch", third="m.msgid = '3@x'")
    counts = until_done(mail, store)
    assert len(counts) >= 4
    assert max(counts) <= 7
    assert sorted((m.filter_id, m.msgid) for m in store.matches) == sorted(
        [(0, f"{n}@x") for n in range(9)]
        + [(1, name) for name in ("a@x", "1@x", "3@x", "5@x", "7@x")]
        + [(2, "3@x")]
    )
    assert store.failed == {}
    assert store.enrolled_ids == {0, 1, 2}


def test_an_enrolled_filter_that_finds_too_much_goes_on_alone_and_comes_back(mail):
    store = MemoryStore(all="m.size >= 0", third="m.msgid = '3@x'")
    run(mail, store, Narrow)
    for n in range(9):
        append(mail, many([n]))
    found = {m.filter_id for m in run(mail, store, Narrow).matches}
    assert found == {0, 1}  # of the first as many as it may find at once
    assert store.enrolled_ids == {1}
    assert len(store.matches) < 10
    until_done(mail, store)
    assert [m.msgid for m in store.matches if m.filter_id == 0] == [f"{n}@x" for n in range(9)]
    assert store.failed == {}
    assert store.enrolled_ids == {0, 1}


def test_too_much_in_one_instant_is_said(mail):
    append(mail, many(range(9)))
    store = MemoryStore(all="m.size >= 0", third="m.msgid = '3@x'")
    while not store.failed:
        run(mail, store, Narrow)
    assert store.failed == {0: "It finds more than 3 messages in one run."}
    assert [(m.filter_id, m.msgid) for m in store.matches] == [(1, "3@x")]
    assert store.enrolled_ids == {1}
