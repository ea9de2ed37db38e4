"""Dates and delays of HTTP."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.clock import SECOND, to_instant
from tapestry.deliver.http.fields import format_http_date, parse_http_date, parse_retry_after

instants = st.integers(to_instant(datetime(1900, 1, 1)), to_instant(datetime(9999, 12, 31)))


@given(instants)
def test_a_date_that_was_written_reads_as_its_second(instant):
    assert parse_http_date(format_http_date(instant)) == instant // SECOND * SECOND


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Thu, 01 Jan 1970 00:01:00 GMT", 50.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        (None, None),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("9" * 5000, None),
        ("Thu, 99 Jan 1970 00:00:00 GMT", None),
    ],
)
def test_a_delay_is_seconds_or_a_date(text, seconds):
    assert parse_retry_after(text, now=10 * SECOND) == seconds


@given(st.text())
def test_any_text_is_a_delay_or_nothing(text):
    assert (parse_retry_after(text, now=0) or 0.0) >= 0.0
