"""Figures are recorded in the table of their bench, each row with its command."""

import pytest

from tapestry.core.errors import TapestryError
from tests.bench import BENCHES
from tests.bench.support.record import FIGURES, record, rows_of

PAGE = """# Figures

<!-- lookup: begin -->
| what | measured | `manage.py bench` |
|---|---|---|
| old | 1 ms | `lookup` |
| larger | 2 ms | `lookup --messages 3800000` |
<!-- lookup: end -->

Words.
"""


@pytest.fixture
def page(tmp_path):
    page = tmp_path / "FIGURES.md"
    page.write_text(PAGE)
    return page


def test_the_rows_of_a_command_are_replaced_where_they_stood(page):
    record(page, "lookup", ["--record"], {"new": "3 ms"})
    assert page.read_text() == PAGE.replace("| old | 1 ms |", "| new | 3 ms |")


def test_a_command_without_rows_is_added_at_the_end_of_the_table(page):
    record(page, "lookup", ["--batch", "5", "--json", "--record"], {"new": "3 ms"})
    added = "| new | 3 ms | `lookup --batch 5` |\n<!-- lookup: end -->"
    assert page.read_text() == PAGE.replace("<!-- lookup: end -->", added)


def test_a_page_without_the_table_is_refused(page):
    with pytest.raises(TapestryError, match="has no table of ingest"):
        record(page, "ingest", [], {"new": "3 ms"})
    assert page.read_text() == PAGE


def test_every_bench_has_a_table_of_its_own_rows_alone():
    text = FIGURES.read_text()
    for name in BENCHES:
        table = text.partition(f"<!-- {name}: begin -->\n")[2].partition(f"<!-- {name}: end")[0]
        rows = table.splitlines()[2:]
        assert rows
        assert all(row.split("| `")[-1].split("`")[0].split()[0] == name for row in rows)


def test_figures_of_queries_are_listed_in_order():
    figures = {
        "messages": 1000,
        "delta": 10,
        "queries": {
            f"Q{n}": {"incremental_ms": {"delta": float(n)}, "full_ms": None} for n in range(1, 6)
        },
    }
    assert rows_of(BENCHES["incremental"].FIGURES, figures) == {
        "Q1 to Q5: 10 new messages, of 1,000": "1, 2, 3, 4, 5 ms"
    }
