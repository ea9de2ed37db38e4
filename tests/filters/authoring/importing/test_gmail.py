"""Filters of Gmail: each condition means the same here, or is named as not translated."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from filters.authoring.importing.entries import Entry, UnreadableFileError
from filters.authoring.importing.files import read_file
from filters.authoring.importing.gmail.filters import translated
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tests.support.formats.datadriven import Case
from tests.support.formats.gmail_file import gmail
from tests.support.paths import FIXTURES

CONTEXT = Context("me", ("me@x.org",), now=1_700_000_000_000_000)


def entry_of(**properties: str) -> Entry:
    (entry,) = read_file(gmail(**properties))
    return translated(entry, CONTEXT)


def show_filter(case: Case) -> str:
    lines = (line.partition(": ") for line in case.input.splitlines())
    entry = entry_of(**{name: value for name, _, value in lines})
    if entry.text:
        read(entry.text, CONTEXT)
    problems = [f"! {clause.problem}" for clause in entry.clauses if clause.problem]
    assert entry.is_exact == (not problems)
    return "\n".join(filter(None, [entry.text, *problems]))


def test_a_condition_means_the_same(datadriven: Callable[[Path, object], None]) -> None:
    datadriven(FIXTURES / "importing" / "gmail.test", show_filter)


def test_a_label_is_the_name_and_actions_are_named() -> None:
    entry = entry_of(
        **{"from": "a@x", "label": "Work/Plans"}, shouldTrash="true", shouldDance="yes"
    )
    assert entry.title == "Plans" and entry.is_exact
    assert [clause.problem for clause in entry.clauses] == [
        *("", ""),
        "Not translated. Delete it: a filter only moves to Trash, in a mailbox that allows that.",
        "Not translated: Tapestry does not know it.",
    ]


def test_only_the_part_that_cannot_be_said_is_left_out() -> None:
    entry = entry_of(hasTheWord="plan is:unread lunch")
    assert [(clause.source, clause.text) for clause in entry.clauses] == [
        ("hasTheWord: plan", "mentioning plan"),
        ("hasTheWord: is:unread", ""),
        ("hasTheWord: lunch", "mentioning lunch"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        *("(" * 1_500, "-(" * 700, "a " * 750, '"' * 1_500, "a<" * 750, "from:" * 300),
        *("OR " * 500, "a AROUND " * 150, "{" * 1_500, "a" * 2_000, "<a@" * 500, "x" * 1_400),
    ],
)
def test_a_long_condition_takes_no_time(value: str) -> None:
    begun = time.process_time()
    for name in ("from", "hasTheWord", "doesNotHaveTheWord"):
        entry = entry_of(**{name: value})
        if entry.text:
            read(entry.text, CONTEXT)
    assert time.process_time() - begun < 3


def test_a_file_with_very_many_words_is_refused() -> None:
    entry = gmail(hasTheWord="a " * 700).decode()
    begin, end = entry.index("<entry>"), entry.index("</feed>")
    raw = (entry[:end] + entry[begin:end] * 30 + entry[end:]).encode()
    with pytest.raises(UnreadableFileError, match="have 21,700 words, more than 20,000"):
        read_file(raw)
