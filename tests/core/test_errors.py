"""An error as a person sees it: the sentence, the place, what to write instead."""

import pytest

from tapestry.core.errors import Span, TapestryError


def rendered(text, start, end, hint=None):
    return TapestryError("No.", Span(start, end), hint, text).render().split("\n")


def test_an_error_without_a_place_is_its_sentence_and_its_hint():
    assert TapestryError("No.").render() == "No."
    assert TapestryError("No.", hint="Do.").render() == "No.\nDo."
    assert TapestryError("No.", Span(1, 2)).render() == "No."
    assert str(TapestryError("No.", Span(1, 2), "Do.", "text")) == "No."


def test_the_offset_is_that_of_the_place():
    assert TapestryError("No.", Span(4, 5)).offset == 4
    assert TapestryError("No.").offset is None


def test_the_carets_stand_under_the_place():
    assert rendered("from joe frm", 9, 12, "Try from.") == [
        "No. (line 1, column 10)",
        "  from joe frm",
        "           ^^^",
        "Try from.",
    ]


def test_only_the_line_of_the_place_is_shown():
    assert rendered("from joe\nfrm mary\nreplies", 9, 12) == [
        "No. (line 2, column 1)",
        "  frm mary",
        "  ^^^",
    ]


def test_carets_stop_at_the_end_of_the_line():
    assert rendered("NOT (a\nOR b)", 4, 12) == ["No. (line 1, column 5)", "  NOT (a", "      ^^"]


@pytest.mark.parametrize("text", ["from", ""])
def test_a_place_at_the_end_of_the_text_has_one_caret(text):
    end = len(text)
    where, line, caret = rendered(text, end, end)
    assert where == f"No. (line 1, column {end + 1})"
    assert line == "  " + text
    assert caret == "  " + " " * end + "^"


def test_a_place_behind_the_end_is_the_end():
    assert rendered("from", 9, 12) == ["No. (line 1, column 5)", "  from", "      ^"]


def test_an_empty_line_at_the_end_is_a_line():
    assert rendered("from\n", 5, 5) == ["No. (line 2, column 1)", "  ", "  ^"]


def test_a_tab_is_one_column():
    assert rendered("from\tjoe\tfrm", 9, 12) == [
        "No. (line 1, column 10)",
        "  from joe frm",
        "           ^^^",
    ]


def test_a_wide_line_is_shown_around_the_place():
    text = "a" * 100 + "frm" + "b" * 200
    where, line, caret = rendered(text, 100, 103)
    assert where == "No. (line 1, column 101)"
    assert line == "  " + "a" * 60 + "frm" + "b" * 57
    assert caret == "  " + " " * 60 + "^^^"


def test_a_wide_place_has_carets_as_far_as_the_line_is_shown():
    where, line, caret = rendered("x" * 1000, 0, 1000)
    assert where == "No. (line 1, column 1)"
    assert line == "  " + "x" * 120
    assert caret == "  " + "^" * 120


@pytest.mark.parametrize("start", range(14))
@pytest.mark.parametrize("length", [0, 1, 5, 99])
def test_carets_are_always_within_what_is_shown(start, length):
    _, line, caret = rendered("ab\tcd\n\nefg\nh", start, start + length)
    assert caret.strip("^ ") == ""
    assert caret.count("^") >= 1
    assert len(caret) <= max(len(line), 2) + 1
