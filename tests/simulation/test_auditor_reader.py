"""The auditor reads what the product prints, and reads it as the product does."""

import ast
from pathlib import Path

import pytest

from tests.simulation.auditor import nodes as n
from tests.simulation.auditor.reader import UnreadableError, read
from tests.support.formats.datadriven import parse
from tests.support.paths import FIXTURES

DAY = 86_400_000_000


def canonical():
    """Every condition that a fixture shows as canonical TQL, but for what worlds do not draw."""
    for name in ("tql", "sql", "aggregates"):
        for case in parse((FIXTURES / "query" / f"{name}.test").read_text())[0]:
            is_drawn = "AGGREGATE (" not in case.expected
            if case.command in ("tql", "sql") and is_drawn:
                yield case.expected


def test_every_text_that_the_product_prints_is_read():
    texts = sorted(set(canonical()))
    assert len(texts) > 80
    for text in texts:
        read(text)


def test_a_count_of_rows_and_one_of_values_bind_their_variables():
    rows = read("COUNT(r, a IN annotations: a.msgid = r.msgid) > 5")
    assert isinstance(rows, n.Threshold)
    assert rows.aggregate.bindings == (n.Binding("r", "messages"), n.Binding("a", "annotations"))
    owners = read("COUNT(DISTINCT a.owner IN annotations: a.msgid = m.msgid) > 5")
    assert isinstance(owners, n.Threshold)
    assert owners.aggregate.bindings == (n.Binding("a", "annotations"),)
    gaps = read("MIN(r.ts - m.ts, r: r.inreplyto = m.msgid) < 1 hour")
    assert isinstance(gaps, n.Threshold)
    assert gaps.aggregate.bindings == (n.Binding("r", "messages"),)


def test_a_top_ranks_under_the_name_of_what_is_tested_or_under_its_own():
    top = read("m IN TOP 3 BY COUNT(r: r.inreplyto = m.msgid) AMONG m.size > 1 AND m.size = 3")
    assert isinstance(top, n.And)
    assert isinstance(top.args[0], n.Top)
    assert top.args[0].binding.var == "m"
    named = read("m NOT IN TOP 3 y BY COUNT(r: r.inreplyto = y.msgid)")
    assert isinstance(named, n.Not)
    assert isinstance(named.arg, n.Top)
    assert named.arg.binding.var == "y"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 weeks", 14 * DAY),
        ("-1 second", -1_000_000),
        ("0.000001 seconds", 1),
        ("TIMESTAMP '1970-01-02 00:00:00.000001'", DAY + 1),
        ("'it''s'", "it's"),
        ("-5", -5),
        ("1000.0", 1000.0),
        ("NULL", None),
    ],
)
def test_constants_are_read_exactly(text, value):
    assert read(f"m.size = {text}") == n.Compare("=", n.Column("m", "size"), n.Literal(value))


def test_other_filters_are_named_with_or_without_their_owner():
    assert read("m IN baseball") == n.InFilter("m", "", "baseball")
    assert read('m NOT IN terry."base-ball"') == n.Not(n.InFilter("m", "terry", "base-ball"))


@pytest.mark.parametrize(
    "text", ["", "m.size", "m.size = ", "m.size = 1 2", "from jones", "(m.a = 1"]
)
def test_what_is_not_canonical_is_refused(text):
    with pytest.raises((UnreadableError, IndexError)):
        read(text)


def test_the_auditor_imports_nothing_of_what_it_judges():
    room = Path(n.__file__).parent
    for file in sorted(room.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                room_of = name.partition(".")[0]
                assert room_of not in ("tapestry", "filters", "support", "django"), file
                assert room_of != "simulation" or name.startswith("tests.simulation.auditor"), file
