"""Which filters share a plan: those that differ only in constants."""

import pytest

from tapestry.core.clock import HOUR, WEEK
from tapestry.core.schema import Type
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context


def compiled(text, rule="fast"):
    return compile_filter(text, Context("terry", ("terry@parc.com",)), rule)


def key(text, rule="fast"):
    return compiled(text, rule).key


def constants(text):
    return [constant for plan in compiled(text).plans for constant in plan.signature.constants]


def values(text):
    return tuple(constant.value for constant in constants(text))


SHARED = [
    ("m.sender = 'joe@x.org'", "m.sender = 'mary@x.org'"),
    ("from joe@x.org and about spark", "sent by mary@y.org, subject delta"),
    ("m.size > 1", "m.size > 1000000 AND TRUE"),
    ("m.sender IN ('a', 'b')", "m.sender IN ('c', 'd', 'e')"),
    ("m.subject LIKE '%x%'", "m.subject LIKE 'y%'"),
    ("m.ts < now() - 2 weeks", "now() - m.ts > 1 hour"),
    ("two weeks old with no reply", "older than 3 days, unanswered"),
    ("between 2 and 3 weeks old", "between 1 and 9 weeks old"),
    ("replied to by Jones", "replied to by Smith"),
    ("m.date < TIMESTAMP '2026-01-31'", "m.date < TIMESTAMP '2020-01-01 12:00:00'"),
    (
        "SELECT m.msgid FROM messages m, messages r WHERE r.inreplyto = m.msgid AND r.size > 1",
        "EXISTS (r: r.inreplyto = m.msgid AND r.size > 2)",
    ),
]

APART = [
    ("m.sender = 'x'", "m.sender <> 'x'"),
    ("m.sender = 'x'", "m.sender_name = 'x'"),
    ("m.sender = 'x'", "m.sender LIKE 'x'"),
    ("m.sender = 'x'", "m.sender IN ('x', 'y')"),
    ("m.size > 1", "m.size > 1.5"),
    ("m.size > 1", "m.size + 1 > 1"),
    ("m.size > 1", "m.size > 1 OR m.list IS NULL"),
    ("m.ts < now() - 2 weeks", "m.ts <= now() - 2 weeks"),
    ("m.ts < now() - 2 weeks", "m.date < now() - 2 weeks"),
    ("m.date < now() - 2 weeks", "m.date < now() + 2 weeks"),
    ("replied to", "unanswered"),
    ("EXISTS (r: r.msgid = m.list)", "EXISTS (a IN annotations: a.msgid = m.list)"),
    # A position in a text shapes the plan; so does NULL, which never matches.
    ("substr(m.subject, 1, 3) = 'abc'", "substr(m.subject, 2, 3) = 'abc'"),
    ("lower(m.subject) = 'x'", "upper(m.subject) = 'x'"),
    ("m.size = 1 OR m.sender = 'x'", "m.size = 1 OR m.sender = NULL"),
    # Constants may share a plan only if time orders them alike: 3 to 2 weeks old is never.
    ("between 2 and 3 weeks old", "m.ts <= now() - 3 weeks AND m.ts >= now() - 2 weeks"),
    (
        "m.ts < now() - 1 day AND m.ts < now() - 2 days AND m.size > 1",
        "m.ts < now() - 2 days AND m.ts < now() - 1 day AND m.size > 1",
    ),
]


@pytest.mark.parametrize(("one", "other"), SHARED)
def test_filters_that_differ_only_in_constants_share_a_signature(one, other):
    assert key(one) == key(other)
    assert key(one, "general") == key(other, "general")
    kinds = [[(c.slot, c.type, c.many) for c in constants(text)] for text in (one, other)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_filters_do_not(one, other):
    assert key(one) != key(other)


def test_the_rule_is_part_of_the_signature():
    text = "two weeks old with no reply"
    assert key(text) != key(text, "general")


def test_constants_stand_in_the_order_of_the_normal_form():
    text = "m.size > 7 AND m.sender IN ('a', 'b') AND m.ts < now() - 2 weeks AND m.list LIKE 'c%'"
    assert values(text) == (7, ("a", "b"), "c%", 2 * WEEK)


def test_a_constant_knows_its_slot_and_type():
    found = constants("m.subject HAS 'x' AND m.size IN (1, 2.5) AND m.ts < now() - 1 hour")
    assert [(c.slot, c.type, c.many, c.value) for c in found] == [
        (0, Type.TEXT, False, "x"),
        (1, Type.NUMBER, True, (1.0, 2.5)),
        (2, Type.DURATION, False, HOUR),
    ]


def test_a_constant_in_two_disjuncts_is_two_constants():
    text = "m.sender = 'x' AND (m.size > 5 OR EXISTS (r: r.inreplyto = m.msgid))"
    assert values(text) == ("x", 5, "x")


def test_no_text_of_a_filter_is_in_its_key():
    text = "m.sender = 'secret' AND m.subject LIKE 'secret%' AND m.list IN ('secret')"
    assert "secret" not in key(text)


@pytest.mark.parametrize(
    "one",
    [
        "EXISTS (r: r.inreplyto = m.msgid AND r.sender = 'a{0}')",
        "(m.ts < now() - {0} days AND NOT EXISTS (r: r.inreplyto = m.msgid AND r.size > {0}))",
        "(m.date > now() AND m.size > {0})",
    ],
)
def test_alternatives_of_one_shape_are_one_plan(one):
    plans = compiled(" OR ".join(one.format(n) for n in range(1, 257))).plans
    assert [plan.disjunct.monotone.index for plan in plans] == list(range(256))
    assert len({plan.signature.key for plan in plans}) == 1
    assert plans[7].signature.constants == compiled(one.format(8)).plans[0].signature.constants
