"""The model of a large site, and the simulated cluster that checks it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.support.scale.cluster import Cluster
from tests.bench.support.scale.model import Costs, Site, index_share, limits, loads

COSTS = Costs(
    append=0.02,
    append_message=0.0005,
    watermark=0.002,
    window=0.2,
    message=0.0002,
    match=0.0001,
    commit=0.01,
    commit_match=0.00005,
    release_match=0.00002,
    entry_bytes=300,
)
SITE = Site(
    machines=4,
    cores=4,
    parts=2,
    period=2,
    rate=10,
    together=1,
    matches=2,
    filters=1_000_000,
    memory=2**30,
)


def through(costs, site):
    return Cluster(costs, site, seed=3).run(200).throughput


def test_below_its_limit_a_site_passes_all_mail_on():
    assert through(COSTS, SITE) == pytest.approx(SITE.rate, rel=0.1)


@pytest.mark.parametrize(
    ("scarce", "dear"),
    [
        ("clock", {"append": 0.1}),
        ("part of the window", {"message": 0.02}),
        ("release", {"release_match": 0.02}),
    ],
)
def test_beyond_its_limit_a_site_passes_on_what_was_computed(scarce, dear):
    costs = replace(COSTS, **dear)
    first, most = next(iter(limits(costs, SITE).items()))
    assert first == scarce
    assert through(costs, SITE.with_rate(1.1 * most)) == pytest.approx(most, rel=0.15)


def test_a_load_is_one_where_its_limit_is():
    for name, rate in limits(COSTS, SITE).items():
        assert loads(COSTS, SITE.with_rate(rate))[name] == pytest.approx(1)


@given(st.floats(0.1, 1e4), st.floats(1, 10))
def test_more_mail_is_no_less_load(rate, times):
    before, after = loads(COSTS, SITE.with_rate(rate)), loads(COSTS, SITE.with_rate(rate * times))
    assert all(after[name] >= load * (1 - 1e-9) for name, load in before.items())


def test_mail_of_the_same_append_shares_its_cost():
    apart = limits(COSTS, SITE)["clock"]
    together = limits(COSTS, replace(SITE, together=10))["clock"]
    assert together > 5 * apart


def test_each_machine_has_the_index_of_its_parts():
    assert index_share(COSTS, SITE) == pytest.approx(150e6 / 2**30)
