"""Lines, and format=flowed by the examples and rules of RFC 3676."""

from __future__ import annotations

import pytest

from filters.reading.rendering.lines import Line, lines_of

SPACE = " "

EXAMPLE = f"""\
`Take some more tea,' the March Hare said to Alice,{SPACE}
very earnestly.

`I've had nothing yet,' Alice replied in an offended{SPACE}
tone, `so I can't take more.'"""
"""Section 4.1's text."""

QUOTED = f"""\
>> `Take some more tea,' the March Hare said to Alice,{SPACE}
>> very earnestly.
>{SPACE}
> `I've had nothing yet,' Alice replied in an offended{SPACE}
> tone, `so I can't take more.'
`You mean you can't take LESS,' said the Hatter.
"""


def test_flowed_lines_are_one() -> None:
    assert [line.text for line in lines_of(EXAMPLE, "flowed")] == [
        "`Take some more tea,' the March Hare said to Alice, very earnestly.",
        "",
        "`I've had nothing yet,' Alice replied in an offended tone, `so I can't take more.'",
    ]


def test_quoted_lines_flow_within_their_depth() -> None:
    assert lines_of(QUOTED, "flowed") == [
        Line(2, "`Take some more tea,' the March Hare said to Alice, very earnestly."),
        Line(1, ""),
        Line(
            1, "`I've had nothing yet,' Alice replied in an offended tone, `so I can't take more.'"
        ),
        Line(0, "`You mean you can't take LESS,' said the Hatter."),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (" From here", [(0, "From here")]),  # stuffed
        ("  two", [(0, " two")]),
        (" > no quote", [(0, "> no quote")]),
        (">> a \n> b", [(2, "a "), (1, "b")]),  # improper (4.5)
        ("text \n-- \nme", [(0, "text "), (0, "-- "), (0, "me")]),  # 4.3
        ("> -- \n> me", [(1, "-- "), (1, "me")]),
        ("end ", [(0, "end ")]),
        ("", []),
        ("a\r\nb", [(0, "a"), (0, "b")]),
    ],
)
def test_rules_of_flowed(text: str, lines: list[tuple[int, str]]) -> None:
    assert lines_of(text, "flowed") == [Line(*line) for line in lines]


def test_delsp_takes_the_blank_away() -> None:
    assert lines_of("日本 \n語\n\nA  \nB", "flowed-delsp") == [
        Line(0, "日本語"),
        Line(0, ""),
        Line(0, "A B"),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("> a\n>> b\n> > c", [(1, "a"), (2, "b"), (2, "c")]),
        (">From here", [(0, ">From here")]),
        ("a > b", [(0, "a > b")]),
        ("  > set in", [(1, "set in")]),
        ("text \nmore", [(0, "text "), (0, "more")]),
        (">" * 100 + "x", [(20, "x")]),
    ],
)
def test_fixed_lines(text: str, lines: list[tuple[int, str]]) -> None:
    assert lines_of(text) == [Line(*line) for line in lines]
