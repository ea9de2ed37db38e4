"""Scripts in Sieve: each test becomes the same condition, or is named."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from filters.authoring.importing.entries import Entry, UnreadableFileError
from filters.authoring.importing.files import read_file
from filters.authoring.importing.sieve import scripts as sieve
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.limits import MAX_BYTES
from tapestry.query.tree.printer import print_tql
from tests.support.formats.datadriven import Case
from tests.support.paths import FIXTURES

SIEVE = """require ["fileinto", "vnd.strange"];  # of 2019
if anyof (header :contains "Subject" ["[plans]", "50%"],
          address :is :domain "from" "example.org") {
  fileinto "INBOX.Plans"; stop;
} elsif allof (size :over 100K, not header :is "X-Spam-Flag" "YES", strange :foo "bar") {
  discard;
}
vacation :days 7 "I am away";
"""


def rules(script: str) -> list[Entry]:
    return read_file(script.encode())


def show_rule(case: Case) -> str:
    required = 'require "variables"; ' if "variables" in case.args else ""
    (entry,) = rules(f'{required}if {case.input} {{ fileinto "x"; }}')
    if entry.text:
        read(entry.text, Context())
    problems = [f"! {clause.problem}" for clause in entry.clauses if clause.problem]
    assert entry.is_exact == (not problems)
    return "\n".join(filter(None, [entry.text, *problems]))


def test_a_test_becomes_a_condition(datadriven: Callable[[Path, object], None]) -> None:
    datadriven(FIXTURES / "importing" / "sieve.test", show_rule)


def test_each_branch_is_a_filter() -> None:
    plans, large, away = rules(SIEVE)
    assert plans.title == "Plans" and plans.is_exact
    assert print_tql(read(plans.text, Context())) == (
        "m.subject LIKE '%[plans]%' OR m.subject LIKE '%50\\%%' OR m.sender LIKE '%@example.org'"
    )
    assert large.text.startswith("NOT (((coalesce(m.subject, '') LIKE '%[plans]%'")
    assert large.text.endswith(" AND m.size > 102400") and not large.is_exact
    assert [clause.problem for clause in large.clauses if clause.problem] == [
        "Not translated: Tapestry does not keep the header x-spam-flag.",
        "Not translated: Tapestry has nothing like the test “strange”.",
        "Not translated. Delete it: a filter only moves to Trash, in a mailbox that allows that.",
    ]
    assert (away.text, away.clauses[0].source) == ("", 'vacation :days 7 "I am away";')


@pytest.mark.parametrize("number", ["9" * 5_000, "9" * 19 + "G", str(2**63 - 1)])
def test_a_number_too_large_is_refused_with_its_line(number: str) -> None:
    sentence = "Line 2: write a smaller number, such as 10M."
    with pytest.raises(UnreadableFileError, match=re.escape(sentence)):
        rules(f"keep;\nif size :over {number} {{ keep; }}")
    assert rules(f"if size :over {'0' * 5_000}7K {{ keep; }}")[0].text == "m.size > 7168"


def listed(values: list[str]) -> str:
    return "[" + ",".join(f'"{value}"' for value in values) + "]"


def test_headers_and_values_are_compared_once_each() -> None:
    many = f"header :contains {listed(['to', 'TO'] * 500)} {listed(['a@x'] * 1_000)}"
    (entry,) = rules(f"if {many} {{ keep; }}")
    assert entry.text == "(m.to LIKE '%a@x%' OR m.to_names LIKE '%a@x%')" and entry.is_exact


def test_a_rule_longer_than_a_filter_is_named() -> None:
    values = [f"{number}" for number in range(2_000)]
    for test in (
        f"header :contains {listed(['from', 'to', 'cc'])} {listed(values)}",
        f"anyof ({', '.join([f'body :contains {listed(values[:1_000])}'] * 3)})",
    ):
        (entry,) = rules(f"if {test} {{ keep; }}")
        assert entry.text == "" and not entry.is_exact
        assert any("longer than the 64 KiB" in clause.problem for clause in entry.clauses)


def test_all_rules_of_a_script_have_an_end_together() -> None:
    begun = time.process_time()
    head, tail = 'body :contains "{}"', "{{ keep; }}"
    script = "if " + " elsif ".join(
        f"{head.format(f'{number}-' + 'x' * 500)} {tail.format()}" for number in range(200)
    )
    entries = rules(script)
    assert len(entries) == 200
    assert sum(len(entry.text) for entry in entries) <= sieve.MOST_TEXT
    assert max(len(entry.text) for entry in entries) <= MAX_BYTES
    assert entries[-1].clauses[0].problem in (sieve.TOO_LONG, sieve.TOO_MUCH)
    assert time.process_time() - begun < 10


def test_a_folder_named_by_a_variable_names_no_filter() -> None:
    script = 'require "variables"; if header :matches "subject" "[*]" { fileinto "lists.${1}"; }'
    (entry,) = rules(script)
    assert entry.title == "Sieve rule 1" and entry.is_exact


def test_variables_are_known_by_what_sets_them() -> None:
    script = 'if true { set "x" "a"; } if header :contains "subject" "${x}" { keep; }'
    assert "no variables" in rules(script)[1].clauses[0].problem
