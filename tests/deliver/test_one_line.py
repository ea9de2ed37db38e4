"""Text of strangers as one safe line."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.deliver.one_line import one_line, web_address
from tapestry.query.limits import BIDI


@given(st.text(st.characters()), st.integers(1, 50))
def test_it_is_one_line_that_can_be_encoded_and_reads_as_it_stands(text: str, longest: int) -> None:
    line = one_line(text, longest)
    assert len(line) <= longest
    assert len(line.splitlines()) <= 1
    assert line == " ".join(line.split())
    assert not {unicodedata.category(character) for character in line} & {"Cc", "Cs", "Zl", "Zp"}
    assert not BIDI.search(line)
    assert one_line(line, longest) == line


@pytest.mark.parametrize("text", ["lunch", "Ren\u00e9 \u5c71\u7530", "👩‍👩‍👧 at noon", "می‌خواهم"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert one_line(text) == text


@pytest.mark.parametrize(
    "url",
    ["", "javascript:alert(1)", "//example.com", "https://a b", "https://a\nb", "https://bücher"],
)
def test_what_is_no_address_of_the_web_is_left_out(url: str) -> None:
    assert web_address(url) == ""
