"""The experiments of the papers: their ratios, and pictures of them."""

import json

import pytest

from tapestry.core.errors import TapestryError
from tests.bench import papers
from tests.bench.support.drawing import paper_charts
from tests.support.servers.site import manage

SECONDS = {
    "incremental": {
        "queries": {
            name: {"full_ms": 200.0, "incremental_ms": {"100%": 300.0, "10%": 40, "1%": 5}}
            for name in papers.QUERIES
        }
    },
    "refresh": {"every": [10, 100, 20], "ratios": [30.0, 4.0, 16.0]},
    "groups": {
        "one_by_one_seconds_per_filter": 0.1,
        "curve": [{"filters": n, "tick_seconds": 2.0} for n in (1000, 3333, 10_000)],
    },
}
OPTIONS = {
    "only": "terry92,oraclecq07,chen00",
    "messages": 1000,
    "transactions": 100,
    "filters": 10_000,
    "fired": 100,
    "svg": None,
}


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.setattr(papers, "_bench", lambda name, *arguments: SECONDS[name])
    return papers.measure(OPTIONS)


def test_ratios_stand_beside_those_of_the_papers(figures):
    assert figures["shares_here"]["1%"] == "2.5, 2.5, 2.5, 2.5, 2.5 %"
    assert figures["shares_1992"]["1%"] == "3.1, 0.13, 5.7, 15, 1.2 %"
    assert figures["refresh_here"] == "30.0 times, 4.0 times"
    assert (figures["installed_ratio"], figures["alone_ratio"]) == (1.0, 500.0)
    rows = [text.format_map(figures) for text in papers.FIGURES.values()]
    assert rows[-1] == "1.0 times as long; 500 times as long"


def test_pictures_are_the_same_each_time(figures, tmp_path):
    for name in ("first", "second"):
        paper_charts(figures, tmp_path / name)
    pictures = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert pictures == ["chen00.svg", "oraclecq07.svg", "terry92.svg"]
    for picture in pictures:
        drawn = (tmp_path / "first" / picture).read_text()
        assert drawn == (tmp_path / "second" / picture).read_text()
        assert "<script" not in drawn and "<!--" not in drawn


def test_a_paper_without_experiments_is_one_sentence():
    with pytest.raises(TapestryError, match="There is no 'law11'"):
        papers.measure(OPTIONS | {"only": "law11"})


@pytest.mark.long
@pytest.mark.spark
def test_refreshes_are_measured_more_and_less_often(data_dir, tmp_path):
    sizes = ("--messages", "2000", "--transactions", "50", "--svg", str(tmp_path / "pictures"))
    command = ("papers", "--only", "oraclecq07", *sizes, "--json")
    figures = json.loads(manage(data_dir, "bench", *command))
    assert figures["refresh_times"]["10"] > 0
    assert (tmp_path / "pictures" / "oraclecq07.svg").exists()
