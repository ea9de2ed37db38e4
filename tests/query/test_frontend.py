"""Every notation, read and printed; every refusal, as a person sees it."""

from dataclasses import replace

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.recognize import canonical_phrase
from tapestry.query.tree.nodes import Binding
from tapestry.query.tree.printer import print_sql, print_tql
from tapestry.query.tree.walk import walk
from tests.support.paths import FIXTURES

DECAYED = (
    "AGGREGATE (x NUMBER, age DURATION) RETURNS NUMBER STATE (s NUMBER) "
    "INITIALIZE (x) ITERATE (s * 0.9 + x) TERMINATE s"
)
VOTES = "a.number, a.ts - m.received IN annotations: a.msgid = m.msgid"
FILTERS = {
    (None, "baseball"): "about baseball and not from me",
    (None, "loop"): "m IN mary.back",
    ("mary", "back"): "m IN terry.loop",
    ("terry", "loop"): "m IN mary.back",
    (None, "broken"): "m.subjct = 'x'",
    (None, "decayed()"): DECAYED,
    ("mary", "decayed()"): DECAYED.replace("0.9", "0.8"),
    (None, "cool"): f"decayed({VOTES}) > 3",
    (None, "others"): "m NOT IN mary.liked",
    (None, "early"): "NTILE(4) OVER (PARTITION BY m.inreplyto ORDER BY m.received) <> 4",
    ("mary", "liked"): "voted for by more than half of the voters",
    ("mary", "football"): "in filter soccer or from me",
    ("mary", "soccer"): "EXISTS (r: r.inreplyto = m.msgid AND r.subject HAS 'football')",
}


def resolve(owner, name):
    if (owner, name) not in FILTERS:
        raise TapestryError(f"There is no filter “{name}” that you may see.")
    return FILTERS[owner, name]


TERRY = Context(
    owner="terry",
    addresses=("terry@parc.com", "terry@home.org"),
    resolve=resolve,
    addresses_of={"mary": ("mary@parc.com",)}.__getitem__,
)


def again(query):
    """Return a query's TQL, having made sure that every print of it reads back the same."""
    printed = print_tql(query)
    for text in (printed, print_sql(query)):
        assert read(text, TERRY).condition == query.condition, text
    return printed


def show_error(case):
    with pytest.raises(TapestryError) as caught:
        read(case.input, TERRY)
    error = caught.value
    assert error.span is not None
    assert error.hint or "There is no filter" in error.message or "refer to each" in error.message
    return error.render()


def show_phrase(case):
    query = read(case.input, TERRY)
    same = read(query.phrase, TERRY)
    assert (same.phrase, same.condition) == (query.phrase, query.condition)
    return f"{query.phrase}\n{again(query)}"


@pytest.mark.parametrize("name", ["tql", "sql", "aggregates", "sequences"])
def test_tql_and_sql_are_read_and_printed(datadriven, name):
    datadriven(FIXTURES / "query" / f"{name}.test", lambda case: again(read(case.input, TERRY)))


def test_phrases_are_read_and_spelled_canonically(datadriven):
    datadriven(FIXTURES / "query" / "phrases.test", show_phrase)


@pytest.mark.parametrize(
    "name",
    ["errors", "aggregate_errors", "sequence_errors", "agreement_errors", "definition_errors"],
)
def test_refusals_say_what_is_wrong_where_and_what_to_write(datadriven, name):
    datadriven(FIXTURES / "query" / f"{name}.test", show_error)


def test_the_error_is_that_of_the_notation_that_got_further():
    def offset(text):
        with pytest.raises(TapestryError) as caught:
            read(text, TERRY)
        return caught.value.offset

    assert offset("to joe frm mary") == 7
    assert offset("list = 'r-devel' AND frm joe") == 21
    assert offset("frm joe and list = 'r-devel'") == 0
    assert offset("m.size > ") == 9
    assert offset("unanswered in comp.databases now") == 29


def test_phrases_that_look_like_tql_are_phrases():
    for text in ("unanswered in comp.databases", "to joe", "replies in terry.x", "subject spark"):
        assert read(text, TERRY).phrase


def test_every_part_of_a_tree_knows_its_place():
    text = "m.size > 1 AND EXISTS (r: r.inreplyto = m.msgid)"
    size, exists = read(text, TERRY).condition.args
    assert text[size.span.start : size.span.end] == "m.size > 1"
    assert text[exists.span.start : exists.span.end] == "EXISTS (r: r.inreplyto = m.msgid)"
    right = exists.condition.right
    assert text[right.span.start : right.span.end] == "m.msgid"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("in mary's football", "m IN mary.football"),
        ("not in mary's top-ten", 'NOT m IN mary."top-ten" IS TRUE'),
        ('m IN mary."or" OR m IN baseball', 'm IN mary."or" OR m.subject HAS'),
    ],
)
def test_the_filters_of_others_can_be_left_as_references(text, printed):
    query = read(text, replace(TERRY, by_name=True))
    assert print_tql(query).startswith(printed)
    assert read(print_tql(query), replace(TERRY, by_name=True)).condition == query.condition


@pytest.mark.parametrize(
    ("text", "by_name", "definition"),
    [
        (f"decayed({VOTES}) > 3", "decayed(", DECAYED),
        (f"Decayed({VOTES}) > 3", "decayed(", DECAYED),
        ("m IN cool", "decayed(", DECAYED),
        (f"mary.decayed({VOTES}) > 3", "mary.decayed(", DECAYED.replace("0.9", "0.8")),
        (f'"mary".decayed({VOTES}) > 3', "mary.decayed(", DECAYED.replace("0.9", "0.8")),
    ],
)
def test_an_aggregate_is_used_by_its_name(text, by_name, definition):
    query, named = read(text, TERRY), read(text, replace(TERRY, by_name=True))
    assert query.borrows
    assert print_tql(query).startswith(f"{definition} OF (a.number, a.ts - m.received, a IN ")
    assert again(query)
    assert print_tql(named).startswith(f"{by_name}a.number, a.ts - m.received, a IN annotations:")
    assert read(print_tql(named), TERRY).condition == query.condition


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("in mary's liked", "m IN mary.liked"),
        ("m NOT IN mary.liked", "m NOT IN mary.liked"),
        ("not in mary's liked", "NOT m IN mary.liked IS TRUE"),
        ("not in filter others", "NOT NOT m IN mary.liked IS NOT FALSE"),
    ],
)
def test_a_filter_of_somebody_else_means_by_its_name_what_its_text_does(text, named):
    by_name = print_tql(read(text, replace(TERRY, by_name=True)))
    assert by_name == named
    assert read(by_name, TERRY).condition == read(text, TERRY).condition


@pytest.mark.parametrize("name", ["early", "others"])
def test_each_variable_of_a_filter_that_is_referred_to_is_bound_once(name):
    condition = read(f"m IN {name} IS NOT FALSE", TERRY).condition
    bound = [node.var for node in walk(condition) if isinstance(node, Binding)]
    assert len(bound) == len(set(bound)) > 0


def test_a_condition_that_borrows_another_persons_filter_gets_no_phrase():
    assert canonical_phrase(read("m IN baseball", TERRY)) is not None
    borrowing = read("m IN mary.football", TERRY)
    assert (canonical_phrase(borrowing), borrowing.borrows) == (None, True)
