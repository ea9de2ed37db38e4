"""The few rows of a view: all that the statement needs, whatever the index knows by then."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tapestry.core.message import Annotation, Message
from tapestry.core.schema import Type
from tapestry.embedded.local_rows import Limits, LocalRows
from tapestry.plan.relation import Field, KeyLookup, Near, Relation, Statement, View
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.write.append import append_annotations, append_messages
from tapestry.tables.write.compact import compact
from tests.support.clocks import MemoryClock

COLUMNS = {"msgid", "inreplyto", "references", "ts"}
NEW = View("new", "messages", ((90, 10**6),))
PARENTS = View("parents", "messages", None, KeyLookup("msgid", ("new",), "inreplyto"))
ABOVE = View("above", "messages", None, KeyLookup("msgid", ("new",), "references"))
REPLIES = View("replies", "messages", None, KeyLookup("inreplyto", ("parents",), "msgid"))
ASKED = View("asked_for", "messages", None, KeyLookup("msgid", ("asked",), "msgid"))
EITHER = View("either", "messages", None, KeyLookup("inreplyto", ("new", "parents"), "msgid"))
BELOW = View("below", "messages", None, KeyLookup("references", ("parents",), "msgid"))
SOON = KeyLookup("inreplyto", ("parents",), "msgid", Near("ts", "ts", 1, 20))
SOON_AFTER = View("soon", "messages", None, SOON)
ALL = View("messages", "messages", None)
STATEMENT = Statement(
    None,
    [NEW, PARENTS, ABOVE, REPLIES, ASKED, EITHER, BELOW, ALL],
    [Relation("asked", (Field("msgid", Type.TEXT),), (("m3",), ("m7",), ("nobody",)))],
)


def mail(root, indexed):
    tables, clock, chance = Tables(root), MemoryClock(), random.Random(3)
    for n in range(100):
        above = tuple(dict.fromkeys(f"m{chance.randrange(n)}" for _ in range(2))) if n else ()
        parent = above[0] if above and chance.random() < 0.8 else None
        some = [Message(f"m{n}", inreplyto=parent, references=above)]
        append_messages(tables, clock, some, now=lambda n=n: n)
        if indexed and n in (30, 75):
            compact(tables)
    return snapshot(tables)


@pytest.fixture(scope="module", params=["indexed", "not indexed"])
def made(request, tmp_path_factory):
    root = tmp_path_factory.mktemp("few")
    return mail(root, request.param == "indexed")


def names(rows):
    return set(rows["msgid"].to_pylist())


def expected(rows):
    by_name = {row["msgid"]: row for row in rows}
    new = [row for row in rows if row["ts"] > 90]
    parents = {row["inreplyto"] for row in new} & set(by_name)
    return {
        "new": {row["msgid"] for row in new},
        "parents": parents,
        "above": {name for row in new for name in row["references"]} & set(by_name),
        "replies": {row["msgid"] for row in rows if row["inreplyto"] in parents},
        "asked_for": {"m3", "m7"},
        "below": {row["msgid"] for row in rows if parents & set(row["references"])},
        "either": {
            row["msgid"] for row in rows if row["inreplyto"] in parents | {r["msgid"] for r in new}
        },
    }


def test_exactly_what_is_reached_is_read(made):
    whole = LocalRows(made).rows(ALL, STATEMENT, COLUMNS).to_pylist()
    local_rows = LocalRows(made, Limits(sent=0))
    assert local_rows.rows(ALL, STATEMENT, COLUMNS) is None
    for view in STATEMENT.views[:-1]:
        found = local_rows.rows(view, STATEMENT, COLUMNS)
        assert names(found) == expected(whole)[view.name]
        assert sorted(found.column_names) == sorted(COLUMNS)


def test_no_indexed_row_is_read_that_is_far_from_all_that_ask(made):
    rows = LocalRows(made).rows(ALL, STATEMENT, COLUMNS).to_pylist()
    asked = Statement(None, [NEW, PARENTS, SOON_AFTER], [])
    found = names(LocalRows(made, Limits(sent=0)).rows(SOON_AFTER, asked, COLUMNS))
    parents = {row["msgid"]: row["ts"] for row in rows if row["msgid"] in expected(rows)["parents"]}
    replies = {row["msgid"]: row for row in rows if row["inreplyto"] in parents}
    far = {name: row["ts"] - parents[row["inreplyto"]] for name, row in replies.items()}
    assert {name for name in far if 1 <= far[name] <= 20} <= found <= replies.keys()
    assert len(found) < len(replies) or not (made.root / "index").exists()


def test_of_a_small_table_all_views_are_the_table(made):
    local_rows = LocalRows(made)
    assert len({local_rows.key(view, STATEMENT, COLUMNS) for view in STATEMENT.views}) == 1
    assert local_rows.rows(PARENTS, STATEMENT, COLUMNS).num_rows == 100


VOTES = View("votes", "annotations", None, KeyLookup("msgid", ("parents",), "msgid"))


@pytest.mark.parametrize("sent", [100, 0], ids=["sent whole", "looked up"])
def test_from_a_small_table_leads_on_only_what_is_asked_of_it(made, tmp_path, sent):
    """All messages are sent along, and yet the votes on a few of them are looked up."""
    tables = Tables(tmp_path)
    votes = [Annotation(f"a{n}", f"m{n % 100}", "jo", "vote", number=1.0) for n in range(200)]
    append_annotations(tables, MemoryClock(), votes)
    both = replace(made, annotations=snapshot(tables).annotations, root=None)
    local_rows = LocalRows(both, Limits(sent))
    asked = Statement(None, [NEW, PARENTS, VOTES], [])
    rows = LocalRows(made).rows(ALL, STATEMENT, COLUMNS).to_pylist()
    parents = expected(rows)["parents"]
    found = local_rows.rows(VOTES, asked, {"annid", "msgid", "inreplyto"})
    assert names(found) == parents
    assert found.num_rows == 2 * len(parents)


@pytest.mark.parametrize("limit", ["sliced", "read", "keys", "bytes"])
def test_what_is_reached_from_many_rows_is_left_to_spark(made, limit):
    local_rows = LocalRows(made, Limits(0, **{limit: 2}))
    assert local_rows.rows(PARENTS, STATEMENT, COLUMNS) is None
    assert local_rows.rows(REPLIES, STATEMENT, COLUMNS) is None


def test_a_slice_in_the_past_is_read_by_itself(made):
    view = View("old", "messages", ((50, 60),))
    found = LocalRows(made, Limits(sent=0)).rows(view, Statement(None, [view], []), COLUMNS)
    assert names(found) == {f"m{n}" for n in range(50, 60)}
