"""Texts as HTML: nothing is lost or run; quotations are folded, signatures dimmed."""

from __future__ import annotations

import re
import time
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filters.reading.rendering.lines import lines_of
from filters.reading.rendering.text import text_html

WORDS = st.sampled_from(
    [
        *[
            "word",
            "and",
            "another,",
            "<b>",
            "&amp;",
            "it's",
            "-",
            "--",
            "-- ",
            ">",
            "> ",
            ">> ",
            "\t",
        ],
        *[
            "On Monday, Mary wrote:",
            "-----Original Message-----",
            "https://x.org/?a=1&b=2",
            "| x |",
        ],
        *["@@ -1,2 +3 @@", "+++ a/b", "______________________________", "    ", "joe@x.org", "1."],
    ]
)
LINES = st.lists(WORDS, max_size=14).map(" ".join)
TEXTS = st.lists(LINES, max_size=40).map("\n".join)


def shown(html: str) -> str:
    """Return all that a page shows, but for blanks and what it says of quotations."""
    own = re.sub(r'<summary>Quoted text <|<span class="tone">[^<]*</span>', "<", html)
    return re.sub(r"\s", "", unescape(re.sub(r"<[^>]*>", "", own)))


@given(TEXTS, st.sampled_from(["fixed", "flowed", "flowed-delsp"]))
def test_every_character_is_shown(text: str, text_format: str) -> None:
    wanted = "".join(line.text for line in lines_of(text, text_format))
    assert shown(text_html(text, text_format)) == re.sub(r"\s", "", wanted)


@settings(max_examples=50)
@given(st.text(max_size=100))
def test_nothing_of_a_text_is_markup(text: str) -> None:
    tags = set(re.findall(r"<(\w+)", text_html(text)))
    assert tags <= {"p", "pre", "div", "details", "summary", "blockquote", "span", "a"}


def test_quotations_are_within_each_other() -> None:
    html = text_html("> > Why?\n> Because.\nYes.")
    assert html == (
        '<div class="quote q1"><blockquote><div class="quote q2"><blockquote><p>Why?</p>'
        "</blockquote></div><p>Because.</p></blockquote></div><p>Yes.</p>"
    )


def test_a_long_quotation_is_folded_under_its_attribution() -> None:
    text = "Hi,\n\nOn Monday, 3 May,\nMary <m@x.org> wrote:\n" + "> word\n" * 9
    html = text_html(text)
    assert html.startswith("<p>Hi,</p><details")
    summary = html.partition("<summary>")[2].partition("</summary>")[0]
    assert "On Monday, 3 May, Mary &lt;" in summary and "9 lines" in summary
    assert html.count("<details") == 1 and "<details open" not in html


def test_what_outlook_quotes_is_folded() -> None:
    html = text_html("Yes.\n\n-----Original Message-----\nFrom: Mary\n\n" + "Shall we?\n\n" * 6)
    assert html.startswith("<p>Yes.</p><details") and "7 lines" in html


def test_the_signature_is_dimmed_and_no_quotation_after_it() -> None:
    html = text_html("Yes.\n-- \nMary\nOn Monday Joe wrote:\n> Shall we?")
    assert '<p class="lines signature">--\nMary</p>' in html
    assert html.endswith("<blockquote><p>Shall we?</p></blockquote></div>")
    assert '<p class="lines attribution">On Monday Joe wrote:</p>' in html


def test_a_patch_is_one_piece() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n one\n\n-two\n+three\n four"
    assert text_html(f"Please apply:\n\n{patch}\n").count("<pre") == 1


@pytest.mark.parametrize(
    "text",
    [
        "> " * 100_000,
        "\n".join(">" * (n % 50) + " x" for n in range(9_000)),
        "x@" * 130_000,
        "http://" * 37_000,
        "a." * 130_000,
        "(" * 260_000,
        "word " * 52_000,
        "-- \n" * 60_000,
        "On x wrote:\n> y\n" * 12_000,
        "-----Original Message-----\n" * 9_000,
        " " * 260_000 + "x",
        "1.\t" * 80_000,
    ],
)
def test_texts_made_to_cost_hours_take_seconds(text: str) -> None:
    began = time.process_time()
    text_html(text)
    assert time.process_time() - began < 8


def test_lines_before_an_attribution_are_not_joined_in_flowed_text() -> None:
    long = "This line is as long as lines are that a program has wrapped at some width"
    text = f"{long}\n{long}\nOn Monday, Mary wrote:\n> Why?"
    assert f"{long}\n{long}" in text_html(text, "flowed")
    assert f"{long} {long}" in text_html(text)
