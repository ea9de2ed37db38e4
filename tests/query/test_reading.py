"""Every notation, read and printed; every refusal, as a person sees it."""

from pathlib import Path

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.printer import print_sql, print_tql
from tapestry.query.read import read

FIXTURES = Path(__file__).parent.parent / "fixtures" / "query"

FILTERS = {
    (None, "baseball"): "about baseball and not from me",
    (None, "loop"): "m IN mary.back",
    ("mary", "back"): "m IN terry.loop",
    ("terry", "loop"): "m IN mary.back",
    (None, "broken"): "m.subjct = 'x'",
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
    return caught.value.render()


def show_phrase(case):
    query = read(case.input, TERRY)
    same = read(query.phrase, TERRY)
    assert (same.phrase, same.condition) == (query.phrase, query.condition)
    return f"{query.phrase}\n{again(query)}"


@pytest.mark.parametrize("name", ["tql", "sql"])
def test_tql_and_sql_are_read_and_printed(datadriven, name):
    datadriven(FIXTURES / f"{name}.test", lambda case: again(read(case.input, TERRY)))


def test_phrases_are_read_and_spelled_canonically(datadriven):
    datadriven(FIXTURES / "phrases.test", show_phrase)


def test_refusals_say_what_is_wrong_where_and_what_to_write(datadriven):
    datadriven(FIXTURES / "errors.test", show_error)
