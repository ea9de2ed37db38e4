"""What is prose that was wrapped, and what must stay as it is."""

from __future__ import annotations

import textwrap

import pytest

from filters.reading.rendering.paragraphs import Kind, kind_of

PROSE = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, "
    "must be in want of a wife.  However little known the feelings or views of such a man may be "
    "on his first entering a neighbourhood, this truth is so well fixed in the minds of all."
)

KEPT = {
    "list": "- apples and pears and everything else that has grown in here\n- bread",
    "numbers": "1. the first of the things that we have to talk about today, is\n2. the second",
    "poem": "Tyger Tyger, burning bright,\nIn the forests of the night;\nWhat immortal hand",
    "address": "Mary Jones\n1 High Street\nOxford OX1 3TG",
    "code": "for (i in seq_len(n)) {\n  total <- total + sqrt(x[i]) * weight[i];\n}",
    "headers": "From: Mary Jones <mary@example.org>\nSubject: that which we talked about, again",
    "japanese": "これは日本語の文章ですので空白がありません。\n" * 3,
    "hyphen": "this line ends in the middle of a word divided by a well-known hyphen-\nation",
    "ragged": "a line of prose that could have had more words in it\nand one\nand yet another one",
}


@pytest.mark.parametrize("width", [60, 66, 72, 78, 80])
def test_prose_of_any_width_is_joined(width: int) -> None:
    assert kind_of(textwrap.wrap(PROSE, width)) is Kind.PROSE


@pytest.mark.parametrize("what", KEPT)
def test_what_is_meant_stays(what: str) -> None:
    assert kind_of(KEPT[what].splitlines()) is not Kind.PROSE


@pytest.mark.parametrize(
    "text",
    [
        "name      count   size\nalpha         1      7",
        "a\tb\tc",
        "    x <- rnorm(100)\n    plot(x, y = 3)",
        "  +----+\n  |    |\n  +----+",
    ],
)
def test_columns_keep_their_letters_of_equal_width(text: str) -> None:
    assert kind_of(text.splitlines()) is Kind.FIXED


def test_flowed_text_is_never_joined_again() -> None:
    assert kind_of(textwrap.wrap(PROSE, 72), may_join=False) is Kind.LINES
