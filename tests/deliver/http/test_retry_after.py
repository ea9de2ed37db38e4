"""Retry-After: seconds, a date, or nothing that counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.clock import SECOND
from tapestry.deliver.http.retry_after import parse_retry_after


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
