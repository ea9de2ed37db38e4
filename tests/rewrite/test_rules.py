"""Every rule: what it makes of a filter, and what it leaves alone.

A case of ``fixtures/rewrite/STAGE/RULE.spec`` says ``expect=RULE`` or ``expect-not=RULE``.
Rules of the normal stage show the condition as the rule leaves it; the others every disjunct.
"""

import time

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree.nodes import Binding, Or
from tapestry.query.tree.printer import print_condition, print_term
from tapestry.rewrite import pipeline
from tapestry.rewrite.incremental.general import general
from tapestry.rewrite.monotone.bound_in_time import bound_in_time
from tapestry.rewrite.monotonicity import analyze
from tapestry.rewrite.normal.distribute import distribute
from tapestry.rewrite.restore import (
    conjunction_condition,
    delta_query_condition,
    monotone_condition,
)
from tests.support.paths import FIXTURES

SPECS = FIXTURES / "rewrite"
REFUSED = SPECS / "refused.spec"
TERRY = Context("terry", ("terry@parc.com",))

NORMAL = {rule.__name__: rule for rule in pipeline.NORMAL}
INCREMENTAL = {rule.__name__: rule for rule in (*pipeline.FAST, general)}
RULES = [*NORMAL.values(), distribute, bound_in_time, *INCREMENTAL.values()]
FIXTURE_OF = {
    rule.__name__: SPECS.joinpath(*rule.__module__.split(".")[2:]).with_suffix(".spec")
    for rule in RULES
}


def up_to(name, text):
    """Return a filter's condition before and after a rule of the normal stage."""
    before = condition = read(text, TERRY).condition
    for rule in pipeline.NORMAL:
        before, condition = condition, rule(condition)
        if rule.__name__ == name:
            assert rule(condition) == condition, f"{name} is not idempotent"
            break
    return before, condition


def show_normal(name, text):
    before, after = up_to(name, text)
    return after != before, print_condition(after)


def show_distribute(text):
    _, before = up_to(pipeline.NORMAL[-1].__name__, text)
    parts = [conjunction_condition(part) for part in distribute(before)]
    shown = [print_condition(part) for part in parts]
    fired = print_condition(Or.of(parts)) != print_condition(before)
    return fired, "\n".join(shown or ["(no disjunct)"])


def show_moment(moment):
    return ("just after " if moment.shift else "") + print_term(moment.term)


def show_bounds(text):
    query = pipeline.normal(read(text, TERRY))
    message = Binding(query.var, MESSAGES)
    fired, lines = False, []
    for index, whole in enumerate(query.disjuncts):
        bounded = bound_in_time(index, message, whole)
        if bounded is None:
            fired = True
            lines.append(f"never: {print_condition(conjunction_condition(whole))}")
            continue
        fired |= bool(whole.temporal_predicates or whole.not_exists)
        until = "".join(f", until {show_moment(end)}" for end in bounded.ends)
        lines += [
            print_condition(monotone_condition(bounded)),
            "  from " + " and ".join(map(show_moment, bounded.starts)) + until,
            "  " + analyze(whole).description,
        ]
    return fired, "\n".join(lines)


def show_incremental(name, text):
    query = read(text, TERRY)
    made = pipeline.rewrite(query, "general" if name == "general" else "fast")
    lines = []
    for delta_query in made.delta_queries:
        tables = ", ".join(f"{binding.table} {binding.var}" for binding in delta_query.bindings)
        lines += [
            f"{delta_query.rule}: C is {show_moment(delta_query.event)}",
            f"  from {tables}",
            f"  where {print_condition(delta_query_condition(delta_query))}",
        ]
    return name in {d.rule for d in pipeline.rewrite(query).disjuncts}, "\n".join(lines)


def show(name, text):
    """Return whether the rule fired, and what is to be seen of it."""
    if name in NORMAL:
        return show_normal(name, text)
    if name == "distribute":
        return show_distribute(text)
    if name == "bound_in_time":
        return show_bounds(text)
    return show_incremental(name, text)


@pytest.mark.parametrize("name", FIXTURE_OF)
def test_a_rule_does_what_its_fixture_shows(datadriven, name):
    def evaluate(case):
        fired, shown = show(name, case.input)
        wanted = {"expect": True, "expect-not": False}
        (kind,) = case.args.keys() & wanted.keys()
        assert case.args[kind] == name
        assert fired is wanted[kind], f"line {case.line}: {shown}"
        return shown

    datadriven(FIXTURE_OF[name], evaluate)


@pytest.mark.parametrize("name", FIXTURE_OF)
def test_a_rule_has_a_case_in_which_it_fires_and_one_in_which_it_must_not(name):
    text = FIXTURE_OF[name].read_text()
    assert f" expect={name}\n" in text
    assert f" expect-not={name}\n" in text


def test_no_fixture_is_without_a_rule():
    assert set(SPECS.rglob("*.spec")) == {*FIXTURE_OF.values(), REFUSED}


def test_what_is_refused_is_refused_in_a_second_with_its_place(datadriven):
    def evaluate(case):
        started = time.process_time()
        with pytest.raises(TapestryError) as caught:
            compile_filter(case.input, TERRY)
        assert time.process_time() - started < 1
        return caught.value.render()

    datadriven(REFUSED, evaluate)


def test_256_disjuncts_are_not_too_many():
    parts = (f"(m.size = {i} OR EXISTS (r: r.size = {i}))" for i in range(8))
    assert len(pipeline.normal(read(" AND ".join(parts), TERRY)).disjuncts) == 256
