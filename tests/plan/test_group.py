"""Filters of one signature: their constant table, and the slices of old rows they need."""

from tapestry.core.clock import BEGINNING, DAY, WEEK
from tapestry.core.schema import Type
from tapestry.plan.compile import compile_filter
from tapestry.plan.group import MOST_RANGES, ConstantRow, constant_table, merge, slices
from tapestry.query.context import Context

NOW = 1000 * WEEK


def constant_rows(*texts, since=NOW - DAY, until=NOW):
    plans = [compile_filter(text, Context()).plans[0] for text in texts]
    made = tuple(
        ConstantRow(number, 0, plan.signature.constants, ("public",), since, until)
        for number, plan in enumerate(plans)
    )
    return made, plans[0].disjunct.delta_queries[0].event


def test_merging_joins_what_overlaps_or_touches():
    assert merge([]) == ()
    assert merge([(5, 9), (1, 3)]) == ((1, 3), (5, 9))
    assert merge([(1, 3), (3, 5), (4, 9)]) == ((1, 9),)
    assert merge([(1, 9), (2, 3)]) == ((1, 9),)


def test_new_messages_are_the_slice_of_the_window():
    assert slices(*constant_rows("from joe@x.org")) == ((NOW - DAY, NOW),)


def test_two_weeks_old_are_the_messages_of_two_weeks_before_the_window():
    """Just after, that is a microsecond sooner, for ``>``; at the instant for ``>=``."""
    assert slices(*constant_rows("m.ts <= now() - 2 weeks")) == (
        (NOW - DAY - 2 * WEEK, NOW - 2 * WEEK),
    )
    after = ((NOW - DAY - 2 * WEEK - 1, NOW - 2 * WEEK - 1),)
    assert slices(*constant_rows("m.ts < now() - 2 weeks")) == after


def test_a_date_in_the_future_is_looked_for_after_the_window():
    assert slices(*constant_rows("m.date <= now() + 1 week")) == ((NOW - DAY + WEEK, NOW + WEEK),)


def test_rows_have_a_slice_each_and_those_that_overlap_one():
    made, event = constant_rows(*(f"m.ts <= now() - {n} hours" for n in (1, 2, 240)))
    hour = DAY // 24
    assert slices(made, event) == (
        (NOW - DAY - 240 * hour, NOW - 240 * hour),
        (NOW - DAY - 2 * hour, NOW - hour),
    )


def test_too_many_slices_are_read_as_one():
    few, event = constant_rows(*(f"m.ts <= now() - {n} weeks" for n in range(1, MOST_RANGES + 1)))
    assert len(slices(few, event)) == MOST_RANGES
    many, event = constant_rows(*(f"m.ts <= now() - {n} weeks" for n in range(1, MOST_RANGES + 2)))
    assert slices(many, event) == ((NOW - DAY - 17 * WEEK, NOW - WEEK),)


def test_the_first_window_begins_at_the_beginning():
    made, event = constant_rows("m.ts <= now() - 2 weeks", since=BEGINNING)
    assert slices(made, event) == ((BEGINNING, NOW - 2 * WEEK),)


def test_an_event_that_is_no_column_and_duration_needs_all_rows():
    made, event = constant_rows("coalesce(m.date, m.ts) <= now() - 2 weeks")
    assert slices(made, event) == ((BEGINNING, NOW),)


def test_the_constant_table_has_a_row_for_each_filter():
    texts = ("m.size > 1 AND m.sender IN ('a', 'b')", "m.size > 2 AND m.sender IN ('c')")
    made, _ = constant_rows(*texts)
    table = constant_table("k", made)
    assert [(f.name, f.type, f.many) for f in table.fields] == [
        ("filter_id", Type.INTEGER, False),
        ("disjunct", Type.INTEGER, False),
        ("since", Type.INSTANT, False),
        ("until", Type.INSTANT, False),
        ("audiences", Type.TEXT, True),
        ("p0", Type.INTEGER, False),
        ("p1", Type.TEXT, True),
    ]
    assert table.rows == (
        (0, 0, NOW - DAY, NOW, ("public",), 1, ("a", "b")),
        (1, 0, NOW - DAY, NOW, ("public",), 2, ("c",)),
    )
