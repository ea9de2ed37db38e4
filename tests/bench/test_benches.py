"""Every measurement runs, and prints figures for people and for programs."""

import json

from live_site import manage

from filters.bench import BENCHES


def test_there_is_a_bench_for_each_that_make_bench_runs():
    assert set(BENCHES) == {"compile", "ingest", "tick", "start"}


def test_figures_come_as_json(data_dir):
    said = manage(data_dir, "bench", "compile", "--repeat", "1", "--json")
    figures = json.loads(said)
    assert figures["bench"] == "compile"
    assert figures["filters"] == 8
    assert figures["median_ms"] > 0
    assert figures["paper_q1_ms"] > 0
    assert figures["many_joins_cpu_ms"] > 0


def test_figures_come_as_lines(data_dir):
    said = manage(data_dir, "bench", "ingest", "--messages", "50").splitlines()
    assert said[0].startswith("ingest: ")
    assert any(line.split()[0] == "messages_per_second" for line in said[1:])


def test_a_measurement_leaves_the_data_directory_alone(data_dir):
    manage(data_dir, "bench", "ingest", "--messages", "50")
    assert not list(data_dir.iterdir())
