from pathlib import Path

import pytest

from tests.support.formats.datadriven import Case, check, parse, write

FILE = """\
# Comments stay.

shout expect=loud quietly
one
two
----
ONE
TWO

shout
paragraphs
----
----
A

B
----
----

# The end.
"""


def shout(case: Case) -> str:
    return "A\n\nB" if case.input == "paragraphs" else case.input.upper()


def test_a_case_has_a_command_arguments_input_and_output():
    (first, second), tail = parse(FILE)
    assert (first.command, first.args) == ("shout", {"expect": "loud", "quietly": ""})
    assert (first.line, first.input, first.expected) == (3, "one\ntwo", "ONE\nTWO")
    assert second.expected == "A\n\nB"
    assert tail == ("", "# The end.")


def test_writing_what_was_read_changes_nothing():
    cases, tail = parse(FILE)
    assert write(cases, [case.expected for case in cases], tail) == FILE


def test_outputs_that_differ_fail_with_their_place_and_a_diff(tmp_path: Path):
    path = tmp_path / "case.test"
    path.write_text(FILE.replace("TWO", "THREE"))
    with pytest.raises(pytest.fail.Exception, match=r"(?s)case.test:3.*- THREE.*\+ TWO"):
        check(path, shout)


def test_rewriting_makes_a_file_pass_and_tells_once_what_had_another_output(tmp_path: Path):
    path = tmp_path / "case.test"
    path.write_text(FILE.replace("TWO", "THREE").replace("B\n", ""))
    with pytest.raises(pytest.fail.Exception, match=r"another output before.*case.test:3"):
        check(path, shout, rewrite=True)
    assert path.read_text() == FILE
    check(path, shout, rewrite=True)
    check(path, shout)


def test_a_case_without_an_output_is_an_error():
    with pytest.raises(ValueError, match="line 1 has no ----"):
        parse("shout\nhello\n")


def test_the_fixture_compares(tmp_path: Path, datadriven):
    path = tmp_path / "case.test"
    path.write_text(FILE)
    datadriven(path, shout)
