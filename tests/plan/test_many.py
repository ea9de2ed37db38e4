"""Filters of many alternatives: those of one shape share a plan; what explodes is refused."""

import pytest

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, execute, signature_groups
from tests.bench.support.texts import MANY, alternatives
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.work import SECOND, counted

TERRY = Context("terry", ("terry@parc.com",))


@pytest.mark.parametrize("kind", MANY)
def test_256_alternatives_of_any_common_kind_take_a_plan_or_two(kind):
    compiled = compile_filter(alternatives(kind, 256), TERRY)
    shared = signature_groups([(Subscription(0, compiled, ("public",), BEGINNING), 1)])
    assert sum(len(group.disjunct.delta_queries) for group in shared) <= 2
    assert sum(len(group.rows) for group in shared) == len(compiled.query.normal.disjuncts)


def test_alternatives_of_several_shapes_take_the_plans_of_each():
    text = " OR ".join(alternatives(kind, 60) for kind in ("joins", "unanswered", "conjunctions"))
    compiled = compile_filter(text, TERRY)
    shared = signature_groups([(Subscription(0, compiled, ("public",), BEGINNING), 1)])
    assert [len(group.rows) for group in shared] == [60, 60, 60]


DATA = {
    "messages": [
        *({"msgid": f"m{i}", "ts": i, "sender": f"a{i}"} for i in range(1, 9)),
        *(
            {"msgid": f"r{i}", "ts": 10 + i, "sender": f"a{i % 5}", "inreplyto": f"m{1 + i % 8}"}
            for i in range(1, 30)
        ),
    ],
    "annotations": [],
}


@pytest.mark.parametrize(
    "one",
    [
        "EXISTS (r: r.inreplyto = m.msgid AND r.sender = 'a{0}')",
        "(m.ts < now() - {0} seconds AND NOT EXISTS (r: r.inreplyto = m.msgid AND r.sender ="
        " 'a{0}'))",
        "NOT EXISTS (r: r.inreplyto = m.msgid AND r.sender = 'a{0}' AND NOT EXISTS (s: s.inreplyto"
        " = r.msgid AND s.sender = 'a{0}'))",
    ],
)
def test_each_match_names_the_alternative_that_made_it_and_its_evidence(one):
    engine = SqliteEngine(DATA)

    def matches(text):
        asked = Subscription(0, compile_filter(text, TERRY), ("public",), BEGINNING)
        return {m.msgid: m for m in execute(engine, [asked], 10**8, lambda _: set())}

    texts = [one.format(i) for i in range(1, 8)]
    alone = [matches(text) for text in texts]
    together = matches(" OR ".join(texts))
    assert together.keys() == set().union(*alone)
    for msgid, match in together.items():
        same = alone[match.disjunct][msgid]
        assert (match.matched_at, match.evidence) == (same.matched_at, same.evidence)
        earliest = [found[msgid].matched_at for found in alone if msgid in found]
        assert match.matched_at == min(earliest)


def either(count, one, other):
    return " AND ".join(f"({one.format(i)} OR {other.format(i)})" for i in range(count))


REPLY = "EXISTS (r: r.inreplyto = m.msgid AND r.size = {0})"
UNLIKE = ("sender", "sender_name", "subject", "body", "list", "source", "msgid", "inreplyto")

EXPLODING = {
    "plain products": either(20, "m.size = {0}", "m.sender = 'a{0}'"),
    "joined products": either(20, "m.size = {0}", REPLY),
    "joins of many": " AND ".join(REPLY.format(i) for i in range(65)),
    "one join of many": f"EXISTS ({', '.join(f'r{i}' for i in range(5000))}: r1.size = 1)",
    "absent joins of many": f"NOT EXISTS ({', '.join(f'r{i}' for i in range(5000))}: r1.size = 1)",
    "products of long ones": either(8, "m.size = {0}", REPLY)
    + "".join(f" AND m.subject HAS 'x{i}'" for i in range(1500)),
    "many absent ones": " AND ".join(f"NOT {REPLY}".format(i) for i in range(257)),
    "absent ones in many": either(7, "m.size = {0}", REPLY)
    + "".join(f" AND NOT {REPLY}".format(i) for i in range(200)),
    "many ages": " AND ".join(f"coalesce(m.date, m.ts) < now() - {i} days" for i in range(1, 1200)),
    "products of ages": either(8, "m.size = {0}", REPLY)
    + "".join(f" AND coalesce(m.date, m.ts) < now() - {i} days" for i in range(1, 50)),
    "many shapes": " OR ".join(
        f"EXISTS (r: r.inreplyto = m.msgid AND r.{one} {op} m.{other} AND r.{other} HAS 'x')"
        for one in UNLIKE
        for other in UNLIKE
        for op in ("<", ">", "=")
    ),
    "too many": alternatives("joins", 257),
}


def test_what_explodes_in_another_filter_is_refused_where_that_is_referred_to():
    other = (
        "m.sender HAS 'a longer text than what refers to it' AND " + EXPLODING["joined products"]
    )
    text = "m.size > 1 OR m IN x"
    with pytest.raises(TapestryError) as caught:
        compile_filter(text, Context("terry", resolve=lambda owner, name: other))
    span = caught.value.span
    assert text[span.start : span.end] == "m IN x"
    with pytest.raises(TapestryError) as caught:
        compile_filter("replies and in filter x", Context(resolve=lambda owner, name: other))
    assert caught.value.render().splitlines()[2].strip() == "^" * 23


@pytest.mark.parametrize("kind", EXPLODING)
def test_what_explodes_is_refused_in_a_second_with_its_place(kind):
    with counted() as work, pytest.raises(TapestryError) as caught:
        compile_filter(EXPLODING[kind], TERRY)
    assert work.calls < SECOND
    assert "^" in caught.value.render()
