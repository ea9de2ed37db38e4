"""The first words of a message are its author's own."""

from __future__ import annotations

import pytest

from filters.reading.rendering.excerpt import LONGEST, excerpt


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, ""),
        ("> quoted\n> all\n", ""),
        ("Dear all,\n\n> Noon?\n\nYes.\n\n-- \nJoe\nParc", "Dear all, Yes."),
        ("Terry wrote:\n> Noon?\nNo.", "No."),
        ("\x00\u202e\ud800 a\r\nb", "\ufffd a b"),
        ("word " * 100_000, ("word " * 47 + "word…")),
        ("> " * 100_000, ""),
    ],
)
def test_quotations_and_signatures_are_left_out(body: str | None, words: str) -> None:
    assert excerpt(body) == words and len(words) <= LONGEST
