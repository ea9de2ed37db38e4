"""Questions in a message's own words."""

import pytest

from tapestry.mime.questions import own_lines, questions


@pytest.mark.parametrize(
    ("subject", "body", "count"),
    [
        ("Lunch?", "Friday", 1),
        ("Re: Lunch?", "Yes.", 0),
        ("Aw: Mittag?", "Passt dir zwölf?", 1),
        (None, None, 0),
        ("See", "https://x.org/a?b=1 and www.x.org/?q", 0),
        ("See", "Have you seen https://x.org/a?b=1 ?", 1),
        ("R", "help(?lm) or x ? y", 1),
        ("R", "Type ?lm to read it.", 0),
        ("A", "Could you send me the file.\nThanks!", 1),
        ("A", "You could send it, so that I can help.", 0),
        ("A", "Any ideas would be welcome", 1),
        ("A", "> Is it?\nNo.\n-- \nWho am I?", 0),
        ("A", "No.\n\nOn Monday, Joe wrote:\nIs it?\n", 0),
        ("A", "On Monday, Joe wrote:\n> Is it?\n\nIt is. And you?", 1),
        ("A", "No.\n-----Original Message-----\nFrom: Joe\nIs it?\n", 0),
        ("A", "Joe> Is it?\nNo.", 0),
        ("A", "Is it?\nIs it not?", 2),
        ("A", "你好吗？", 1),
    ],
)
def test_what_a_message_asks_itself_is_counted_by_line(subject, body, count):
    assert questions(subject, body) == count


def test_a_long_line_takes_no_longer_than_it_is_long():
    assert questions("A", "wrote " * 40_000 + "on " * 40_000) == 0
    assert list(own_lines("x" * 200_000)) == ["x" * 200_000]
