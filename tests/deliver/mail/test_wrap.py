"""Text in lines of 72 columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tapestry.deliver.mail.wrap import COLUMNS, wrap

WORDS = st.lists(st.text("abcé/", min_size=1, max_size=90), max_size=40)


@given(WORDS, st.sampled_from(["", "  ", "    "]))
def test_no_word_is_lost_or_broken_and_no_line_is_too_long(words: list[str], indent: str) -> None:
    wrapped = wrap(" ".join(words), indent)
    assert wrapped.split() == words
    first, *others = wrapped.split("\n")
    assert all(line.startswith(indent) for line in others)
    for line in (indent + first, *others):
        assert len(line) <= COLUMNS or len(line.split()) == 1


def test_a_line_is_filled_before_the_next_begins() -> None:
    assert wrap("a" * 35 + " " + "b" * 36 + " c") == "a" * 35 + " " + "b" * 36 + "\nc"
