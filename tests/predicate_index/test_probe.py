"""The keys of a window's rows, also of an import that is too large to be read together."""

from tapestry.core.clock import BEGINNING, DAY, WEEK
from tapestry.core.message import Message
from tapestry.core.ports import DueFilter
from tapestry.plan.compile import compile_filter
from tapestry.predicate_index import probe
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.predicate_index.probe import SnapshotRows, candidate_keys
from tapestry.predicate_index.store import PredicateIndex, index_entries
from tapestry.query.context import Context
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.read.find import ReadLimit
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock

TEXTS = ("from joe@x.org", "about lunch", "two weeks old with no reply", "replied to by ann@x.org")


def test_a_large_window_is_read_in_parts_and_has_the_same_keys(tmp_path, monkeypatch):
    tables, clock = Tables(tmp_path / "tables"), MemoryClock()
    for begin in range(0, 40, 10):
        mail = [
            Message(
                f"{n}@x",
                sender="joe@x.org" if n % 7 == 0 else "ann@x.org",
                subject="lunch" if n == 23 else "dinner",
                inreplyto=f"{n - 1}@x" if n % 3 else None,
                received=n * DAY,
            )
            for n in range(begin, begin + 10)
        ]
        append_messages(tables, clock, mail, now=lambda: 50 * DAY)
    index = PredicateIndex(tmp_path / "index")
    for number, text in enumerate(TEXTS):
        due = DueFilter(number, text, "ann", (), ("public",), 0, None)
        index.add(*index_entries(due, compile_filter(text, Context())))
    extractors = InMemoryLookup(index, ["public"]).extractors()
    rows = SnapshotRows(snapshot(tables))
    windows = [(BEGINNING, 60 * DAY), (30 * DAY, 52 * DAY), (51 * DAY, 51 * DAY + WEEK)]
    together = [candidate_keys(rows, extractors, *window) for window in windows]
    assert len(together[0]) > 3
    monkeypatch.setattr(probe, "AT_ONCE", ReadLimit(rows=5, bytes=10**9))
    assert len(list(rows.parts_between("messages", [(BEGINNING, 60 * DAY)], ["msgid"]))) == 4
    assert [candidate_keys(rows, extractors, *window) for window in windows] == together
