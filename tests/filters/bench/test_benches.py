"""Every measurement runs, and prints figures for people and for programs."""

import json

import pytest

from tapestry.core.errors import TapestryError
from tests.bench import BENCHES, latency, privacy
from tests.bench.support import curve
from tests.support.paths import ROOT
from tests.support.servers.site import manage


def test_make_bench_runs_benches_that_there_are():
    makefile = ROOT / "Makefile"
    named = makefile.read_text().partition("\tfor name in ")[2].partition(";")[0].split()
    assert named and set(named) <= set(BENCHES)


def test_figures_come_as_json(data_dir):
    said = manage(data_dir, "bench", "compile", "--repeat", "1", "--json")
    figures = json.loads(said)
    assert figures["bench"] == "compile"
    assert figures["filters"] > 5
    assert figures["median_ms"] > 0
    assert figures["paper_q1_ms"] > 0
    assert figures["many_joins_cpu_ms"] > 0


def test_figures_come_as_lines_and_the_data_directory_is_left_alone(data_dir):
    said = manage(data_dir, "bench", "ingest", "--messages", "50").splitlines()
    assert said[0].startswith("ingest: ")
    assert any(line.split()[0] == "per_second" for line in said[1:])
    assert not list(data_dir.iterdir())


@pytest.mark.long
def test_lookups_are_measured_in_an_archive_of_any_size(data_dir):
    figures = json.loads(manage(data_dir, "bench", "lookup", "--messages", "3000", "--json"))
    assert figures["messages"] == 3000
    assert figures["batch"] > 100
    assert all(figures[name] > 0 for name in ("message_ms", "parents_ms", "replies_ms"))


@pytest.mark.long
def test_appends_are_measured_in_logs_of_any_number_of_files(data_dir):
    options = ("--files", "12,3", "--repeat", "2", "--json")
    figures = json.loads(manage(data_dir, "bench", "append", *options))
    assert figures["files"] == [3, 12]
    assert all(figures[name] > 0 for name in ("fewest_cpu_ms", "most_cpu_ms", "ratio"))


@pytest.mark.long
def test_a_mailbox_of_any_length_is_measured(data_dir):
    figures = json.loads(manage(data_dir, "bench", "imap", "--messages", "300", "--json"))
    assert figures["messages"] == 300 and figures["flags_ms"] >= 0


@pytest.mark.long
def test_an_answer_is_waited_for_at_a_terminal(data_dir):
    options = ("--messages", "2000", "--repeat", "1", "--json")
    figures = json.loads(manage(data_dir, "bench", "terminal", *options))
    assert figures["command_cpu_seconds"] > 0 and figures["p95_seconds"] > 0


@pytest.mark.long
def test_pages_are_measured_of_any_person(data_dir):
    options = ("--deliveries", "400", "--filters", "20", "--repeat", "1", "--json")
    figures = json.loads(manage(data_dir, "bench", "web", *options))
    assert figures["deliveries"] > 300 and figures["filters"] == 20
    assert all(page["queries"] <= 40 for page in figures["pages"].values())
    assert figures["pages"]["the poll, nothing new"]["queries"] <= 10


@pytest.mark.long
@pytest.mark.spark
def test_phrases_are_measured_over_an_archive(data_dir):
    options = ("--messages", "600", "--only", "replied to by", "--repeat", "1", "--json")
    figures = json.loads(manage(data_dir, "bench", "phrases", *options))
    assert figures["messages"] == 600
    assert figures["slowest_ask"] == figures["slowest_preview"] == "replied to by Jones"
    measured = figures["phrases"]["replied to by Jones"]
    assert measured["preview_ms"] > 0 and measured["search_ms"] > 0


@pytest.mark.long
@pytest.mark.spark
def test_a_round_is_measured_that_finds_something(data_dir):
    options = ("--messages", "200", "--repeat", "1", "--json")
    figures = json.loads(manage(data_dir, "bench", "tick", *options))
    assert figures["filters"] == 10
    assert figures["matches_last"] > 0


@pytest.mark.long
@pytest.mark.spark
def test_the_papers_queries_are_measured_over_windows_of_any_size(data_dir):
    options = ("--messages", "6000", "--delta", "100", "--repeat", "1", "--json")
    figures = json.loads(manage(data_dir, "bench", "incremental", *options))
    assert (figures["messages"], sorted(figures["queries"])) == (
        6000,
        ["Q1", "Q2", "Q3", "Q4", "Q5"],
    )
    for query in figures["queries"].values():
        assert sorted(query["incremental_ms"]) == ["1%", "10%", "100%", "delta"]
        assert query["full_ms"] > 0
        assert query["matches"]["100%"] >= query["answer"]
    assert figures["queries"]["Q5"]["matches"]["100%"] > 100


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("engine", [(), ("--spark",)], ids=["embedded", "Spark"])
def test_filters_that_share_no_plan_are_measured(data_dir, engine):
    sizes = ("--filters", "12", "--archive", "400", "--messages", "20", "--repeat", "1")
    figures = json.loads(manage(data_dir, "bench", "signatures", *sizes, *engine, "--json"))
    assert figures["filters"] == 12
    assert figures["tick_seconds"] > 0


@pytest.mark.long
@pytest.mark.spark
def test_many_filters_are_measured_together_and_one_by_one(data_dir):
    sizes = ("--filters", "300", "--fired", "90", "--messages", "100", "--archive", "3000")
    rounds = ("--warming", "0", "--repeat", "1", "--alone", "10")
    figures = json.loads(manage(data_dir, "bench", "groups", *sizes, *rounds, "--json"))
    assert list(figures)[1:9] == [
        "filters",
        "signatures",
        "messages",
        "tick_seconds",
        "matches",
        "install_seconds",
        "one_by_one_seconds_per_filter",
        "peak_rss_mb",
    ]
    assert (figures["filters"], figures["signatures"]) == (300, 9)
    assert figures["matches"] >= 90
    assert all(value > 0 for name, value in figures.items() if name != "bench")


@pytest.mark.long
@pytest.mark.live
def test_mail_is_followed_from_an_imap_server_to_all_who_wait(data_dir, dovecot):
    some = ("--messages", "3", "--others", "20", "--every", "0.5", "--json")
    options = ("--imap", dovecot.url(""), *some)
    figures = json.loads(manage(data_dir, "bench", "latency", *options))
    assert (figures["messages"], figures["others"]) == (3, 20)
    for way in latency.WAYS:
        assert 0 < figures[f"{way}_p50_seconds"] <= figures[f"{way}_p95_seconds"]


@pytest.mark.long
@pytest.mark.live
def test_mail_is_matched_by_two_workers_of_the_shared_window(data_dir):
    sizes = ("--workers", "2", "--filters", "90", "--messages", "120", "--archive", "3000")
    figures = json.loads(manage(data_dir, "bench", "cluster", *sizes, "--repeat", "1", "--json"))
    assert figures["workers"] == 2
    assert figures["messages_a_second"] > 0 < figures["matches_a_second"]


@pytest.mark.long
def test_two_worlds_are_told_apart_by_durations_as_well_as_may_be(data_dir):
    options = ("--rows", "1000", "--visible", "1000", "--repeat", "3", "--json")
    figures = json.loads(manage(data_dir, "bench", "privacy", *options))
    assert {"inbox", "message", "hidden", "nobody", "completion", "names"} <= set(
        figures["answers"]
    )
    for compared in figures["answers"].values():
        assert 0 <= compared["low"] <= compared["auc"] <= compared["high"] <= 1
        assert compared["with_ms"] > 0 < compared["without_ms"]


def test_too_few_rows_are_one_sentence():
    with pytest.raises(TapestryError, match="Too few rows"):
        privacy.measure({"rows": 3, "visible": 1000, "repeat": 1})


@pytest.mark.parametrize("address", ["127.0.0.1", "imap://127.0.0.1/", "http://joe:x@127.0.0.1/"])
def test_an_address_that_is_no_mailbox_is_one_sentence(address):
    with pytest.raises(TapestryError, match="names no mailbox"):
        latency.measure({"imap": address})


def test_the_curve_is_drawn_through_all_points(tmp_path):
    plan = curve.plan(1_000_000, 1000)
    points = [
        {"filters": some, "messages": new, "tick_seconds": 1 + some / 1e6 + new / 1e4}
        for some, new in plan
    ]
    curve.draw(points, str(tmp_path / "curve.svg"))
    drawn = (tmp_path / "curve.svg").read_text()
    assert "<script" not in drawn
    assert all(f"{number:,}" in drawn for number in (100, 1000, 10_000, 100_000, 1_000_000))


@pytest.mark.long
@pytest.mark.live
def test_a_site_at_work_is_measured_at_the_beginning_and_at_the_end(data_dir):
    options = ("--minutes", "3", "--filters", "300", "--json")
    figures = json.loads(manage(data_dir, "bench", "soak", *options))
    assert {"up", "java", "beat", "worker shared"} <= set(figures["parts_end_mb"])
    for when in ("begin", "end"):
        assert 0 < figures[f"{when}_p50_seconds"] <= figures[f"{when}_p95_seconds"]
        assert figures[f"memory_{when}_mb"] > 0 < figures[f"files_{when}"]
