"""Saved searches of lei, notmuch and mu: each clause means the same here, or is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from filters.authoring.importing.entries import Entry, UnreadableFileError
from filters.authoring.importing.files import read_file
from filters.authoring.importing.gmail.filters import translated
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tests.support.formats.datadriven import Case
from tests.support.paths import FIXTURES

CONTEXT = Context("me", ("me@x.org",), now=1_700_000_000_000_000)


def entries_of(text: str) -> list[Entry]:
    return [translated(entry, CONTEXT) for entry in read_file(text.encode())]


def show_search(case: Case) -> str:
    (entry,) = entries_of(f"[query]\nfound = {case.input}\n")
    if entry.text:
        read(entry.text, CONTEXT)
    problems = [f"! {clause.problem}" for clause in entry.clauses if clause.problem]
    assert entry.is_exact == (not problems)
    return "\n".join(filter(None, [entry.text, *problems]))


def test_a_search_means_the_same(datadriven: Callable[[Path, object], None]) -> None:
    datadriven(FIXTURES / "importing" / "saved_searches.test", show_search)


LEI = """\
; to refresh with new results, run: lei up /home/me/mail/netdev
[lei]
\tq = dfn:drivers/net
\tq = "s:\\"memory leak\\""
\tq = rt:2.weeks.ago..
[lei "q"]
\tinclude = https://lore.kernel.org/all/
\tthreads = 1
\toutput = maildir:/home/me/mail/netdev
"""


def test_a_search_of_lei_is_named_by_its_mailbox() -> None:
    (entry,) = entries_of(LEI)
    assert entry.title == "netdev" and entry.is_exact
    assert "m.diff_paths HAS 'drivers/net' AND m.subject HAS 'memory leak'" in entry.text


def test_an_argument_with_blanks_is_one_text() -> None:
    (entry,) = entries_of("[lei]\n\tq = s:memory leak\n\tq = f:mary\n")
    assert (entry.title, entry.text) == ("lei search", 'about "memory leak" and from mary')
    (entry,) = entries_of("[lei]\n\tq = s:leak AND f:mary\n")
    assert entry.text == "about leak and from mary"


@pytest.mark.parametrize(
    "text",
    [
        "[database]\npath=/home/me/mail\n[query]\nwork=from:mary\nplans=subject:plan\n",
        "database.path=/home/me/mail\nquery.work=from:mary\nquery.plans=subject:plan\n",
        "[bookmarks]\nwork=from:mary\nplans=subject:plan\n",
    ],
)
def test_searches_of_notmuch_and_mu_have_names(text: str) -> None:
    found = [(entry.title, entry.text) for entry in entries_of(text)]
    assert found == [("work", "from mary"), ("plans", "about plan")]


@pytest.mark.parametrize("text", ["[lei]\n\tother = 1\n", "[query]\n", '[lei]\n\tq = "s:x\n'])
def test_a_file_without_a_search_is_refused(text: str) -> None:
    with pytest.raises(UnreadableFileError):
        read_file(text.encode())


def test_what_cannot_be_said_is_shown_clause_by_clause() -> None:
    (entry,) = entries_of("[query]\nx = from:mary and tag:unread and path:work/** and plan\n")
    assert [(clause.source, clause.text) for clause in entry.clauses] == [
        ("q: from:mary", "from mary"),
        ("q: tag:unread", ""),
        ("q: path:work/**", ""),
        ("q: plan", "mentioning plan"),
    ]
    assert entry.text == "from mary and mentioning plan" and not entry.is_exact
