"""A stored filter is compiled once, and each of its disjuncts put into words once."""

from dataclasses import replace

from tapestry.core.ports import DueFilter
from tapestry.plan.compile import compile_due, compile_filter
from tapestry.plan.explanation import explanation
from tapestry.query.context import Context
from tests.support.work import counted

DUE = DueFilter(1, "about lunch or replied to by mary", "terry", (), ("public",), 0, None)


def test_a_stored_filter_is_compiled_once_however_its_windows_move():
    with counted() as alone:
        compile_filter(DUE.text, Context("terry"))
    first = compile_due(DUE)
    moved = [replace(DUE, filter_id=since, since=since) for since in range(100)]
    with counted() as work:
        plans = [compile_due(due_filter) for due_filter in moved]
    assert all(plan is first for plan in plans)
    assert work.calls < alone.calls


def test_filters_that_differ_in_text_owner_or_mode_are_compiled_apart():
    mine = replace(DUE, text="from me", addresses=("terry@parc.com",))
    others = replace(mine, addresses=("mary@parc.com",))
    live = replace(mine, live=True)
    plans = [compile_due(due_filter) for due_filter in (mine, others, live)]
    assert plans[0] is not plans[2]
    constants = [plan.plans[0].signature.constants[0].value for plan in plans]
    assert constants == ["terry@parc.com", "mary@parc.com", "terry@parc.com"]


def test_a_disjunct_is_put_into_words_once():
    assert [explanation(DUE, n) for n in (0, 1)] == ["about lunch", "replied to by mary"]
    with counted() as work:
        for since in range(100):
            explanation(replace(DUE, since=since), 1)
    assert work.calls < 3000


def test_people_with_the_same_text_share_its_words():
    explanation(DUE, 1)
    with counted() as work:
        words = {explanation(replace(DUE, owner=f"u{n}"), 1) for n in range(100)}
    assert words == {"replied to by mary"}
    assert work.calls < 3000


def test_a_text_that_says_me_is_put_into_its_owners_words():
    mine = replace(DUE, text="replied to by me or about lunch", addresses=("terry@parc.com",))
    others = replace(mine, addresses=("mary@parc.com",))
    assert explanation(mine, 0) == "replied to by terry@parc.com"
    assert explanation(others, 0) == "replied to by mary@parc.com"


def test_what_the_owner_says_of_a_filter_explains_every_match():
    assert explanation(replace(DUE, explanation="in terry's lunches"), 0) == "in terry's lunches"
