"""What a statement reads, and that every table in it is limited to what may be seen by then."""

from itertools import pairwise

import pytest
from sqlglot import exp

from tapestry.core.clock import DAY, NEVER, WEEK
from tapestry.core.message import Message
from tapestry.plan.compile import compile_filter
from tapestry.plan.lowering.lower import lower, lower_among, lower_at, lower_each, lower_events
from tapestry.plan.relation import OUTPUT, KeyLookup, Near, View
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, execute, signature_groups
from tapestry.tables.rows import to_arrow
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.formats import datadriven
from tests.support.paths import FIXTURES

NOW = 1000 * WEEK
RULES = FIXTURES / "rewrite"
NO_REPLY = "m.ts <= now() - 2 weeks AND NOT EXISTS (r: r.inreplyto = m.msgid)"
REPLIED = "EXISTS (r: r.inreplyto = m.msgid)"
REPLIED_BY = "EXISTS (r: r.inreplyto = m.msgid AND r.sender = '{}')"
NEW = ((NOW - DAY, NOW),)
OLD = ((NOW - DAY - 2 * WEEK, NOW - 2 * WEEK),)


def grouped(*texts, rule="fast"):
    plans = [compile_filter(text, Context("terry"), rule) for text in texts]
    audiences = ("public", "user:terry")
    return signature_groups(
        (Subscription(filter_id, plan, audiences, NOW - DAY, NOW - WEEK), NOW)
        for filter_id, plan in enumerate(plans)
    )


def lowered(*texts, rule="fast", covers=lambda *_: True):
    return lower(grouped(*texts, rule=rule), NOW, covers)


def views(statement):
    return {view.name: (view.table, view.ranges) for view in statement.views}


def tables(select):
    """Return the tables of messages and annotations that a SELECT itself reads, by alias."""
    found = [table for table in select.find_all(exp.Table) if table.parent_select is select]
    return {table.alias: table.name for table in found if table.alias.startswith("v_")}


def reads(statement):
    """Return the tables of each SELECT that reads any, in a settled order."""
    found = [tables(select) for select in statement.select.find_all(exp.Select)]
    return sorted((names for names in found if names), key=lambda names: str(sorted(names.items())))


def own(select, kind):
    """Return the nodes of a kind in a SELECT's own WHERE, not those of a subquery in it."""
    where = select.args.get("where")
    return [] if where is None else [n for n in where.find_all(kind) if n.parent_select is select]


def corpus():
    """Return every filter of the rules' fixtures."""
    for path in sorted(RULES.rglob("*.spec")):
        if path.stem != "refused":
            yield from (case.input for case in datadriven.parse(path.read_text())[0])


def assert_limited(query):
    """Assert that each table is visible to the owner, and read up to an instant only.

    A row of a running total counts from its alpha on, which is no earlier than its ts.
    """
    for select in query.find_all(exp.Select):
        for alias in tables(select):
            seen = [
                call.expressions[1].sql()
                for call in own(select, exp.Anonymous)
                if call.name == "visible" and call.expressions[0].name == "audiences"
            ]
            assert f'"{alias}"."audience"' in seen, select.sql()
            bounds = [bound.this for bound in own(select, exp.LTE)]
            bounds += [one.this for one in select.selects if one.alias == "alpha"]
            assert any(
                column.table == alias and column.name == "ts"
                for bound in bounds
                for column in bound.find_all(exp.Column)
            ), select.sql()


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("rule", ["fast", "general"])
def test_every_table_is_limited_to_the_audience_and_to_an_instant(rule, step):
    """In the statements of all filters of the fixtures, or of every fourth."""
    texts = list(dict.fromkeys(corpus()))
    assert len(texts) > 100
    for text in texts[::step]:
        found = grouped(text, rule=rule)
        statements = [
            lower(found, NOW, lambda *_: True),
            lower_at(found, NOW),
            lower_among(found, [(0, "a@x", NOW)]),
            lower_each(found, [(0, NOW)]),
        ]
        for statement in statements:
            if statement is not None:
                assert_limited(statement.select)
                for derived in statement.derived:
                    assert_limited(derived.statement.select)


def test_a_table_without_its_limit_would_be_noticed():
    statement = lowered(NO_REPLY)
    for name in ("visible", "ts"):
        select = statement.select.copy()
        for node in list(select.find_all(exp.Anonymous if name == "visible" else exp.LTE)):
            if name == "visible" or "ts" in {c.name for c in node.this.find_all(exp.Column)}:
                node.replace(exp.true())
        with pytest.raises(AssertionError):
            assert_limited(select)


def test_new_mail_is_all_that_a_filter_on_its_own_columns_reads():
    statement = lowered("m.sender = 'joe@x.org'")
    assert statement.views == [View("messages_0", "messages", NEW)]


def test_no_reply_reads_the_slice_that_became_old_and_looks_up_the_replies_to_it():
    statement = lowered(NO_REPLY)
    reached = KeyLookup("inreplyto", ("messages_0",), "msgid")
    assert statement.views == [
        View("messages_0", "messages", OLD),
        View("messages_1", "messages", None, reached),
    ]
    assert reads(statement) == [{"v_m": "messages_0"}, {"v_r": "messages_1"}]


def test_each_variant_of_a_join_is_driven_by_the_new_rows_of_one_table():
    text = "EXISTS (a IN annotations: a.msgid = m.msgid AND a.kind = 'vote')"
    statement = lowered(text)
    assert statement.views == [
        View("messages_0", "messages", NEW),
        View("annotations_1", "annotations", None, KeyLookup("msgid", ("messages_0",), "msgid")),
        View("annotations_2", "annotations", NEW),
        View("messages_3", "messages", None, KeyLookup("msgid", ("annotations_2",), "msgid")),
    ]
    assert reads(statement) == [
        {"v_m": "messages_0", "v_a": "annotations_1"},
        {"v_m": "messages_3", "v_a": "annotations_2"},
    ]


def test_rows_are_reached_through_rows_that_were_reached():
    answered = "EXISTS (r: r.inreplyto = m.msgid AND EXISTS (s: s.inreplyto = r.msgid))"
    text = f"m.inreplyto IS NULL AND {answered}"
    statement = lowered(text)
    by_reach = {(view.key_lookup, view.ranges) for view in statement.views}
    names = {(view.ranges, view.key_lookup): view.name for view in statement.views}
    new = names[NEW, None]
    replies = KeyLookup("inreplyto", (new,), "msgid")
    parents = KeyLookup("msgid", (new,), "inreplyto")
    assert by_reach == {
        (None, NEW),
        (replies, None),
        (parents, None),
        (KeyLookup("inreplyto", (names[None, replies],), "msgid"), None),
        (KeyLookup("msgid", (names[None, parents],), "inreplyto"), None),
    }


def test_rows_are_looked_up_by_the_key_that_the_fewest_have():
    statement = lowered(
        "EXISTS (q, r: r.inreplyto = q.msgid AND m.inreplyto = r.msgid AND q.sender = m.sender)"
    )
    keys = [view.key_lookup.column for view in statement.views if view.key_lookup is not None]
    assert set(keys) == {"msgid", "inreplyto"}, "of one sender there is ever more"


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("r.received <= m.received AND m.received - 2 days < r.received", (-2 * DAY, 0)),
        ("(r.received > m.received OR r.received = m.received AND r.size > m.size)", (0, NEVER)),
        ("r.received < m.received", None),
    ],
)
def test_rows_are_looked_up_near_those_that_ask(text, near):
    statement = lowered(f"EXISTS (r: r.sender = m.sender AND {text})")
    close = near and Near("received", "received", *near)
    lookup = KeyLookup("sender", ("messages_0",), "sender", close)
    assert View("messages_1", "messages", None, lookup) in statement.views


@pytest.mark.parametrize(
    ("inside", "before"),
    [
        ("r.sender = m.sender AND r.ts < m.ts", ("ts",)),
        ("m.ts >= r.ts AND m.sender = r.sender", ("ts",)),
        ("r.sender = m.sender AND r.received < m.received AND r.ts < m.ts", ("received", "ts")),
        ("r.sender = m.sender AND m.size > 5 AND r.ts < m.ts", ("ts",)),
        ("r.sender = m.sender", ()),
        ("r.sender = m.sender AND r.ts > m.ts", ()),
        ("r.sender = m.sender AND r.size < m.size", ()),
        ("r.sender = m.sender AND r.received < m.ts", ()),
        ("r.sender = m.sender AND r.ts < m.ts - 1 day", ()),
        ("r.sender = m.sender AND r.ts < m.ts AND r.size > 5", ()),
        ("r.sender = m.sender AND r.ts < m.ts AND r.list = m.list", ()),
        ("r.sender = m.sender AND r.ts < m.ts AND r.received < now() - 1 day", ()),
        ("r.sender = m.sender AND r.ts < m.ts AND NOT EXISTS (q: q.inreplyto = r.msgid)", ()),
    ],
)
def test_one_row_before_is_looked_up_if_that_is_all_that_is_asked_of_it(inside, before):
    for text in (f"NOT EXISTS (r: {inside})", f"EXISTS (r: {inside})"):
        views = lowered(text).views
        found = {view.key_lookup.before for view in views if view.key_lookup is not None}
        assert (before in found) == (before == () or "NOT" in text.split("(")[0]), text
        assert found <= {before, ()}


def test_rows_that_only_a_constant_ties_are_looked_up_by_it():
    statement = lowered("EXISTS (r: r.sender = 'joe@x.org' AND r.size > m.size)")
    lookup = KeyLookup("sender", ("constants_0",), "p0")
    assert lookup in {view.key_lookup for view in statement.views}
    (derived,) = lowered("m IN LAST 3 AMONG m.sender = 'joe@x.org'").derived
    assert all(view.key_lookup for view in derived.statement.views)


def test_what_refers_to_a_message_is_looked_up():
    statement = lowered("EXISTS (r: m.references = r.msgid)")
    assert {view.key_lookup for view in statement.views if view.key_lookup} == {
        KeyLookup("msgid", ("messages_0",), "references"),
        KeyLookup("references", ("messages_0",), "msgid"),
    }


def test_a_top_of_the_week_reads_no_row_of_before():
    statement = lowered("among the top 10 by replies this week")
    (derived,) = statement.derived
    by_reach = {view.by: view for view in derived.statement.views if view.ranges is not None}
    ((after, last),) = by_reach["received"].ranges
    assert (after, last > NOW) == (NEW[0][0] - WEEK, True)
    assert all(view.ranges or view.key_lookup for view in derived.statement.views)


def test_what_is_counted_is_tested_once_and_reached_from_all_that_changes_it():
    statement = lowered("COUNT(r: r.inreplyto = m.msgid) > 3")
    parents = KeyLookup("msgid", ("messages_0",), "inreplyto")
    old = next(view.name for view in statement.views if view.key_lookup == parents)
    counted = KeyLookup("inreplyto", ("messages_0", old), "msgid")
    assert counted in {view.key_lookup for view in statement.views}
    assert len(list(statement.select.find_all(exp.Having, exp.Sum))) == 2  # of values, and rows


def test_a_count_passes_its_bound_by_rows_of_several_windows():
    compiled = compile_filter("COUNT(r: r.inreplyto = m.msgid) > 3", Context("terry"))
    replies = [Message(f"{n}@x", inreplyto="a@x") for n in range(5)]
    rows = to_arrow("messages", [Message("a@x"), *replies]).to_pylist()
    messages = [row | {"ts": ts} for ts, row in enumerate(rows, 1)]
    found = []
    for since, until in pairwise((0, 3, 5, 6)):
        new = [row for row in messages if row["ts"] <= until]
        asked = Subscription(0, compiled, ("public",), since)
        engine = SqliteEngine({"messages": new, "annotations": []})
        found += execute(engine, [asked], until, lambda pairs: set())
    assert [(match.msgid, match.matched_at) for match in found] == [("a@x", 5), ("a@x", 6)]


def test_what_no_key_ties_to_new_rows_is_read_whole():
    statement = lowered("EXISTS (r: r.list = m.list)")
    assert ("messages", None) in views(statement).values()
    assert all(view.key_lookup is None for view in statement.views)


def test_contacts_and_the_mail_of_contacts_are_looked_up():
    statement = lowered("from contacts")
    keys = {view.key_lookup.column for view in statement.views if view.key_lookup is not None}
    assert keys == {"value", "sender"}
    assert all(view.ranges or view.key_lookup for view in statement.views), "nothing is read whole"


def test_a_message_that_is_asked_for_is_looked_up():
    statement = lower_among(grouped(NO_REPLY), [(0, "a", NOW)])
    assert statement.views[0].key_lookup == KeyLookup("msgid", ("asked",), "msgid")
    assert statement.views[1].key_lookup == KeyLookup(
        "inreplyto", (statement.views[0].name,), "msgid"
    )


def test_a_variant_whose_slice_is_empty_is_left_out():
    asked = []

    def covers(table, ranges, by="ts"):
        asked.append((table, ranges))
        return table == "messages"

    text = "EXISTS (a IN annotations: a.msgid = m.msgid)"
    statement = lowered(text, covers=covers)
    assert asked == [("messages", NEW), ("annotations", NEW)]
    assert ("annotations", NEW) not in views(statement).values()
    assert ("annotations", None) in views(statement).values()
    assert not list(statement.select.find_all(exp.Union))


def test_there_is_no_statement_where_nothing_new_is_to_be_read():
    assert lowered(NO_REPLY, REPLIED, covers=lambda *_: False) is None
    assert lowered("m.sender = NULL") is None


def test_an_event_that_no_slice_decides_is_always_run():
    statement = lowered("coalesce(m.date, m.ts) <= now() - 1 week", covers=lambda *_: False)
    assert statement is not None


def test_groups_share_a_statement_and_the_views_of_one_slice():
    statement = lowered("m.size > 1", "m.size > 2", "m.sender = 'x'")
    assert views(statement) == {"messages_0": ("messages", NEW)}
    assert [relation.name for relation in statement.relations] == ["constants_0", "constants_1"]
    assert [[row[0] for row in relation.rows] for relation in statement.relations] == [[0, 1], [2]]


def test_alternatives_of_one_shape_are_rows_of_one_constant_table():
    texts = [REPLIED_BY.format(name) for name in ("joe", "mary", "jones")]
    one = lowered(texts[0])
    many = lowered(" OR ".join([*texts, "m.size > 1"]), texts[1])
    (table, other) = many.relations
    assert [row[:2] for row in table.rows] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert [row[-1] for row in table.rows] == ["joe", "mary", "jones", "mary"]
    assert [row[:2] for row in other.rows] == [(0, 3)]
    assert {view.table: view.ranges for view in many.views} == {
        view.table: view.ranges for view in one.views
    }
    assert (
        len(list(many.select.find_all(exp.Union))) == len(list(one.select.find_all(exp.Union))) + 1
    )


def test_no_constant_of_a_filter_is_in_the_statement():
    text = "m.sender = 'joe@x.org' AND m.size IN (17, 18) AND m.ts < now() - 3 weeks"
    sql = lowered(text).select.sql()
    assert "joe" not in sql
    assert "17" not in sql


@pytest.mark.parametrize("text", [NO_REPLY, REPLIED, "m.size > 1", "m.sender = NULL"])
def test_statements_give_the_columns_of_the_output(text):
    for statement in (lowered(text), lower_at(grouped(text), NOW)):
        if statement is not None:
            assert tuple(statement.select.named_selects) == OUTPUT


def test_what_held_at_an_instant_is_asked_of_whole_tables():
    statement = lower_at(grouped(NO_REPLY), NOW)
    assert views(statement) == {"messages": ("messages", None)}
    assert str(NOW) in statement.select.sql()


def test_what_held_at_some_instants_is_asked_of_the_messages_named():
    statement = lower_among(grouped(NO_REPLY), [(0, "a@x", 5), (0, "b@x", 7)])
    asked = statement.relations[0]
    assert (asked.name, asked.rows) == ("asked", ((0, "a@x", 5), (0, "b@x", 7)))
    assert "asked" in {table.name for table in statement.select.find_all(exp.Table)}


def test_the_events_of_a_filter_are_read_from_the_slices_that_can_hold_them():
    statement = lower_events(grouped(NO_REPLY, rule="general"), NOW, lambda *_: True)
    assert {view for _, view in views(statement).values() if view} == {NEW, OLD}
    assert tuple(statement.select.named_selects) == OUTPUT
