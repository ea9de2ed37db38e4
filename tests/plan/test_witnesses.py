"""Which votes and replies a filter counts or misses, of all that phrases and TQL can say."""

import pytest

from tapestry.core.clock import WEEK
from tapestry.plan.compile import compile_filter
from tapestry.plan.witnesses import Witnesses, witnesses
from tapestry.query.context import Context


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("voted for by more than five people", [Witnesses("votes for")]),
        ("voted against by more than three people", [Witnesses("votes against")]),
        ("with a score above 3", [Witnesses("votes")]),
        ("among the top ten by votes this week", [Witnesses("votes", WEEK)]),
        ("among the top ten by replies this week", [Witnesses("replies", WEEK)]),
        ("with more than two replies", [Witnesses("replies")]),
        ("two weeks old with no reply", [Witnesses("no reply")]),
        ("with no reply for two weeks", [Witnesses("no reply", 2 * WEEK)]),
        ("with no reply and with a score above 3", [Witnesses("no reply"), Witnesses("votes")]),
        ("COUNT(r: m.msgid = r.inreplyto) > 2", [Witnesses("replies")]),
        ("with no reply by Jones", []),
        ("about plan", []),
        ("NOT m IN TOP 3 BY COUNT(r: r.inreplyto = m.msgid)", []),
        ("COUNT(r: r.inreplyto = m.msgid AND r.size > 9) > 2", []),
        ("COUNT(r: r.inreplyto = m.inreplyto) > 2", []),
        ("COUNT(r: r.inreplyto = m.msgid AND r.ts < now() - 1 week) > 2", []),
        ("COUNT(r, s: r.inreplyto = m.msgid AND s.inreplyto = r.msgid) > 2", []),
        ("COUNT(a IN annotations: a.msgid = m.msgid AND a.kind = 'tag') > 2", []),
    ],
)
def test_only_known_shapes_have_witnesses(text, expected):
    query = compile_filter(text, Context()).query
    assert witnesses(query.normal.disjuncts[0], query.var) == expected
