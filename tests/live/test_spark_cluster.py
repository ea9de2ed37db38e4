"""A Spark of several machines: it says what SQLite does, also without one of its workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tapestry.run.execute import execute_windows
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import connect
from tests.spark.test_engine import ALL_READ, FILTERS, ROWS, snapshot_of, subscriptions
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.servers.network import running_network
from tests.support.servers.spark_cluster import running_spark_cluster

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(0)]

INSTANTS = [3_000_000, 4_000_001, 30_000_000]


def test_a_spark_of_several_machines_goes_on_without_one_of_them(tmp_path: Path) -> None:
    asked = subscriptions([compile_filter(text, Context("alice")) for text in FILTERS])
    expected = execute_windows(SqliteEngine(ROWS), asked, INSTANTS)
    with (
        running_network("tapestry-spark", "10.89.37") as network,
        running_spark_cluster(network, tmp_path) as cluster,
    ):
        session = connect(cluster.remote)
        engine = SparkEngine(session, snapshot_of(ROWS, tmp_path), ALL_READ)
        assert execute_windows(engine, asked, INSTANTS) == expected
        for host in cluster.hosts:
            assert list((tmp_path / host.namespace).glob("app-*/*")), "a worker did nothing"
        cut, other = cluster.hosts
        cut.cut_off()
        assert execute_windows(engine, asked, INSTANTS) == expected
        cut.connect(network)
        cluster.kill(other.namespace)
        assert execute_windows(engine, asked, INSTANTS) == expected
        session.stop()
