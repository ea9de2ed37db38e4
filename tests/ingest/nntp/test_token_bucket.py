"""The token bucket: a burst at once, and then a steady rate."""

import pytest

from tapestry.ingest.nntp.token_bucket import TokenBucket


def test_a_handful_goes_at_once_and_then_so_many_in_a_second():
    now, slept = 0.0, []

    def sleep(seconds):
        nonlocal now
        slept.append(seconds)
        now += seconds

    bucket = TokenBucket(10, burst=5, clock=lambda: now, sleep=sleep)
    for _ in range(5):
        bucket.acquire()
    assert slept == []
    for _ in range(20):
        bucket.acquire()
    assert now == pytest.approx(2.0)
    now += 60
    slept.clear()
    for _ in range(5):
        bucket.acquire()
    assert slept == []
