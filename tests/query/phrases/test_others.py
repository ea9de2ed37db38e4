"""What users of other mail programs write: a list made before the grammar had seen any of it.

A line has the program, or ``plain`` for words of none; the request as it is typed; whether it is
for a search, a filter or either; its meaning by hand; the same in TQL, where TQL can say it; and
where the form was seen.  The writer is Terry, in Berlin, on Wednesday, 18 March 2026.
"""

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.frontend import read
from tapestry.query.tree.canonical import canonicalize
from tapestry.query.tree.ordering import alpha_normalize
from tests.query.phrases.test_requests import TERRY
from tests.support.paths import FIXTURES

LINES = (FIXTURES / "query" / "phrases" / "others.tsv").read_text().splitlines()
REQUESTS = [tuple(line.split("\t")) for line in LINES]
"""Program, request, kind, meaning, TQL or nothing, and address."""

AS_MEANT, OTHERWISE = 186, 23
"""Requests that have the condition of their meaning, at least, and another one, at most."""


def understood(request):
    """Return the canonical condition of a request, None if it is refused in words."""
    try:
        return alpha_normalize(canonicalize(read(request, TERRY).condition))
    except TapestryError as error:
        assert error.message
        return None


def test_the_list_is_whole():
    assert len(REQUESTS) > 500 and {len(line) for line in REQUESTS} == {6}
    assert len({request for _, request, *_ in REQUESTS}) == len(REQUESTS)
    assert {kind for _, _, kind, *_ in REQUESTS} == {"search", "filter", "either"}


@pytest.mark.parametrize("program", sorted({program for program, *_ in REQUESTS}))
def test_each_is_understood_or_refused_in_words(program):
    for of, request, _, _, tql, _ in REQUESTS:
        if of == program:
            understood(request)
            assert not tql or understood(tql), request


def test_no_fewer_than_before_mean_what_was_meant():
    pairs = [(understood(request), tql) for _, request, _, _, tql, _ in REQUESTS if tql]
    answered = [condition == understood(tql) for condition, tql in pairs if condition]
    assert answered.count(True) >= AS_MEANT and answered.count(False) <= OTHERWISE
