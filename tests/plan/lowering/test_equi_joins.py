"""Statements join what grows by equality: nothing that a filter asks takes all pairs of rows.

Of every phrase, every fixture and random filters, without a JVM; ``tests/spark/test_plans.py``
looks at the plans that Spark makes of such statements.
"""

from contextlib import suppress
from itertools import chain

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from sqlglot import exp

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.plan.compile import compile_filter, compile_query
from tapestry.plan.lowering.lower import lower, lower_at
from tapestry.plan.lowering.top_k import can_sweep
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue import KINDS
from tapestry.run.execute import Subscription, signature_groups
from tests.support.formats.datadriven import parse
from tests.support.generators import random_worlds
from tests.support.paths import FIXTURES

DEFINITION = "AGGREGATE (x NUMBER) RETURNS NUMBER STATE (s NUMBER) INITIALIZE (x) ITERATE (s + x)"
TERRY = Context(
    "terry", ("terry@parc.com",), lambda _, name: DEFINITION if "(" in name else "replies"
)

UNEQUAL = {
    "EXISTS (r: now() - m.ts > now() - r.ts)": "the filter itself compares by inequality",
    "EXISTS (r: r.inreplyto = m.msgid AND NOT (r.size > 1 OR r.sender = m.sender)) AND "
    "NOT (NOT EXISTS (a IN annotations: NOT a.number > 0))": "nothing ties a",
    "EXISTS (r: r.inreplyto = m.msgid AND NOT EXISTS (q: q.inreplyto = r.msgid OR "
    "EXISTS (a IN annotations: a.msgid = q.msgid)))": "nothing ties q, in the second alternative",
    "EXISTS (r: r.inreplyto = m.msgid OR r.references = m.msgid OR r.sender = 'joe@x.org')": (
        "nothing ties r, in the third alternative"
    ),
    "m.size > 1 AND m.size <= 1 AND EXISTS (r: TRUE)": "nothing ties r",
    "m IN TOP 3 y BY COUNT(a IN annotations: a.msgid = y.msgid) AND EXISTS (m2: m2.size = 1) "
    "AND m IN TOP 2 BY COUNT(m7: m7.inreplyto = m.msgid)": "nothing ties m2",
    "EXISTS (x: x.inreplyto = m.msgid AND x IN TOP 3 BY MAX(q.size: q.inreplyto = x.msgid AND "
    "q IN TOP 3 BY COUNT(z: z.inreplyto = q.msgid)))": "a top in a top is ranked anew",
    "SELECT DISTINCT r.msgid FROM messages r, annotations a WHERE a.msgid = r.msgid ORDER BY "
    "COUNT(q: q.inreplyto = r.msgid) DESC, r.msgid ASC LIMIT 10;": "a top of a join is ranked anew",
    "m.msgid IN (SELECT r.msgid FROM messages r JOIN annotations a ON a.msgid = r.msgid "
    "GROUP BY r.msgid HAVING COUNT(*) > 1 ORDER BY SUM(a.number) DESC LIMIT 10) AND m.size > 1": (
        "a top of what is counted is ranked anew"
    ),
    "m.inreplyto NOT IN (SELECT x.msgid FROM messages x JOIN annotations a ON a.msgid = x.msgid "
    "GROUP BY x.msgid HAVING COUNT(*) < 5)": "where m.inreplyto is NULL, any x decides",
}
"""The fixtures that join by something else, and why."""


def test_every_fixture_joins_by_equality_but_those_named():
    files = sorted(FIXTURES.joinpath("rewrite").rglob("*.spec"))
    files += sorted(FIXTURES.joinpath("query").glob("*.test"))
    unequal = set()
    for text in {case.input for file in files for case in parse(file.read_text())[0]}:
        with suppress(TapestryError):
            if any(map(unequal_joins, statements_of(compile_filter(text, TERRY)))):
                unequal.add(text)
    assert unequal == set(UNEQUAL)


@pytest.mark.parametrize("text", [kind.example for kind in KINDS.values()])
def test_every_phrase_joins_by_equality(text):
    assert not any(map(unequal_joins, statements_of(compile_filter(text, TERRY))))


@settings(
    deadline=None,
    database=None,
    max_examples=30,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(random_worlds.counting_worlds())
def test_random_counts_and_tops_join_by_equality(world):
    compiled = compile_query(world.query)
    tops = [top for part in compiled.query.normal.disjuncts for top in part.top_k_tests]
    assume(all(map(can_sweep, tops)))
    assert not any(map(unequal_joins, statements_of(compiled)))


@pytest.mark.parametrize(
    "text",
    [
        "EXISTS (r: r.size > m.size)",
        "NOT EXISTS (r: r.size > m.size AND NOT EXISTS (q: q.inreplyto = r.msgid))",
        "COUNT(r: r.size > m.size) > 5",
        "m IN TOP 3 BY MAX(r.size: r.inreplyto = m.msgid AND r.ts > now() - 1 day)",
    ],
)
def test_a_join_by_something_else_is_seen(text):
    assert any(map(unequal_joins, statements_of(compile_filter(text, TERRY))))


def statements_of(compiled):
    """Yield the statements that ask a filter, and that run it over a window."""
    asked = Subscription(0, compiled, ("public",), BEGINNING)
    groups = signature_groups([(asked, 9)])
    statements = [lower_at(groups, 9), lower(groups, 9, lambda *_: True)]
    for statement in filter(None, statements):
        yield statement
        yield from (derived.statement for derived in statement.derived)


def unequal_joins(statement):
    """Return the SELECTs and subqueries that join two growing relations, but not by equality."""
    growing = {view.name for view in statement.views}
    growing |= {derived.name for derived in statement.derived}
    for cte in statement.select.ctes:
        if growing & {table.name for table in cte.this.find_all(exp.Table)}:
            growing.add(cte.alias)
    return [
        select.sql()
        for select in statement.select.find_all(exp.Select)
        if _is_unequal(select, growing)
    ]


def _is_unequal(select, growing):
    own = _sources(select, growing)
    exists = select.find_ancestor(exp.Exists)
    outer = _sources(exists.find_ancestor(exp.Select), growing) if exists else {}
    if isinstance(exists and exists.parent, exp.Not) and len(own) == 1:
        outer = {}  # an anti-join with one relation ends at the first row that it finds
    tied = {name: {name} for name in own | outer}
    conditions = [select.args.get("where"), *(join.args.get("on") for join in _joins(select))]
    for test in chain.from_iterable(map(_conjuncts, conditions)):
        if isinstance(test, exp.EQ | exp.NullSafeEQ):
            names = {column.table for column in test.find_all(exp.Column)} & tied.keys()
            group = set().union(*(tied[name] for name in names))
            tied |= dict.fromkeys(group, group)
    grow = [name for name, grows in own.items() if grows]
    grow += [name for name, grows in outer.items() if grows and grow][:1]
    return len(grow) > 1 and not all(tied[name] & set(grow) - {name} for name in grow)


def _sources(select, growing):
    """Return the relations that a SELECT reads, each with whether it grows."""
    places = [select.args.get("from_"), *_joins(select)]
    relations = [place.this for place in places if place is not None]
    return {
        relation.alias_or_name: bool(growing & {t.name for t in relation.find_all(exp.Table)})
        for relation in relations
    }


def _joins(select):
    return select.args.get("joins") or []


def _conjuncts(node):
    if isinstance(node, exp.Where | exp.Paren):
        yield from _conjuncts(node.this)
    elif isinstance(node, exp.And):
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    elif node is not None:
        yield node
