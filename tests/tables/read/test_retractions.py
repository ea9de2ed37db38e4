"""The rows of annotations with when they were taken back, read from the tables without a scan."""

import pytest

from tapestry.core.clock import BEGINNING, NEVER
from tapestry.core.message import Annotation
from tapestry.core.schema import ANNOTATIONS, RETRACTED, Type
from tapestry.embedded.local_rows import Limits, LocalRows
from tapestry.plan.relation import Field, KeyLookup, Relation, Statement, View
from tapestry.predicate_index.probe import SnapshotRows
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.read import retractions
from tapestry.tables.write.append import append_annotations
from tapestry.tables.write.compact import compact_small_files
from tests.support.clocks import MemoryClock
from tests.support.oracle.standing import retracted
from tests.support.work import counted

COLUMNS = {"annid", "audience", "kind", RETRACTED}


def annotation(annid, owner="terry", msgid="m", kind="vote", **more):
    return Annotation(annid, msgid, owner, kind, **more)


def retraction(of, owner="terry", msgid="m", **more):
    name = "-".join(("back", of, owner, msgid, *more.values()))
    return annotation(name, owner, msgid, "retraction", value=of, **more)


APPENDS = [
    [annotation("a"), annotation("b", "mary"), annotation("c", msgid="n")],
    [retraction("b"), retraction("c"), retraction("a", audience="user:terry")],
    [retraction("a"), annotation("d", kind="tag", value="later")],
    [annotation("e", "mary", "n"), retraction("e", "mary", "n"), retraction("c", msgid="n")],
]


@pytest.fixture
def tables(tmp_path):
    tables, clock = Tables(tmp_path / "tables"), MemoryClock()
    for instant, rows in enumerate(APPENDS, 1):
        append_annotations(tables, clock, rows, now=lambda at=instant * 10: at)
    return tables


def expected(tables, within=lambda row: True):
    rows = tables.open(ANNOTATIONS).to_pyarrow_table().to_pylist()
    rows = [row | {RETRACTED: retracted(row, rows)} for row in rows]
    return {row["annid"]: row[RETRACTED] for row in rows if within(row)}


def found(rows):
    pairs = zip(rows["annid"].to_pylist(), rows[RETRACTED].to_pylist(), strict=True)
    return dict(pairs)


def local(tables, sent, view, *relations):
    rows = LocalRows(snapshot(tables), Limits(sent=sent))
    return rows.rows(view, Statement(None, [view], list(relations)), COLUMNS)


@pytest.mark.parametrize("indexed", [False, True], ids=["new", "indexed"])
@pytest.mark.parametrize("sent", [0, 5_000], ids=["sliced", "whole"])
def test_the_rows_of_every_view_have_when_they_were_taken_back(tables, indexed, sent):
    if indexed:
        extend_index(tables, ANNOTATIONS)
        compact_small_files(tables)
    everything = expected(tables)
    assert sorted(everything.values())[-2:] == [NEVER, NEVER] and everything["a"] < NEVER
    sliced = View("annotations_1", ANNOTATIONS, ((0, 15),))
    rows = found(local(tables, sent, sliced))
    assert rows.items() >= expected(tables, lambda row: row["ts"] <= 15).items()
    assert rows.items() <= everything.items()
    asked = Relation("asked", (Field("msgid", Type.TEXT),), (("n",),))
    by_msgid = View("annotations_2", ANNOTATIONS, None, KeyLookup("msgid", ("asked",), "msgid"))
    rows = found(local(tables, sent, by_msgid, asked))
    assert rows.items() >= expected(tables, lambda row: row["msgid"] == "n").items()
    assert rows.items() <= everything.items()
    window = (25, 99)
    ended = View("annotations_3", ANNOTATIONS, (window,), by=RETRACTED)
    rows = found(local(tables, sent, ended))
    of_window = expected(tables, lambda row: window[0] < row[RETRACTED] <= window[1])
    assert rows.items() >= of_window.items() and of_window.keys() >= {"a", "c", "e"}
    between = SnapshotRows(snapshot(tables)).between(
        ANNOTATIONS, [window], list(COLUMNS), RETRACTED
    )
    assert found(between) == of_window


def test_the_files_tell_whether_anything_was_taken_back_when(tables):
    files = tables.data_files(ANNOTATIONS)
    assert retractions.has_retractions(files, [(BEGINNING, NEVER - 1)])
    assert retractions.has_retractions(files, [(15, 25)])
    assert not retractions.has_retractions(files, [(BEGINNING, 15)])
    assert not retractions.has_retractions(files[:1], [(BEGINNING, NEVER - 1)])
    assert len(retractions.retraction_files(files)) == 3


def test_a_slice_reads_no_more_where_others_have_more_annotations(tmp_path):
    def work(size):
        tables, clock = Tables(tmp_path / f"{size}"), MemoryClock()
        others = [annotation(f"o{n}", msgid=f"other{n}") for n in range(size)]
        append_annotations(tables, clock, others, now=lambda: 10)
        append_annotations(tables, clock, [annotation("a")], now=lambda: 20)
        extend_index(tables, ANNOTATIONS)
        append_annotations(tables, clock, [retraction("a")], now=lambda: 30)
        rows = SnapshotRows(snapshot(tables))
        retractions.retraction_files(tables.data_files(ANNOTATIONS))
        with counted() as counting:
            rows.between(ANNOTATIONS, [(25, 35)], list(COLUMNS), RETRACTED)
        return counting.calls

    assert work(3000) < 2 * work(30)
