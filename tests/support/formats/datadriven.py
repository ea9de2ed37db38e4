"""Fixture files that hold inputs and expected outputs next to each other.

    normal expect=push_not
    m.a = 1 AND NOT (m.b = 2 OR m.c = 3)
    ----
    m.a = 1 AND m.b <> 2 AND m.c <> 3

A case is a command line (a command, then ``key=value`` or bare words), input lines,
``----``, and the output up to a blank line.  An output with blank lines stands between
doubled ``----`` lines.  Lines that start with ``#`` before a case are comments.

A test takes the fixture ``datadriven`` and calls ``datadriven(path, evaluate)``;
``pytest --rewrite`` writes the outputs found into the file instead of comparing them, and fails
once if a case had another output before: it is to be looked at (git diff).
The plugin ``tests.support.formats.datadriven`` is loaded in ``tests/conftest.py``.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

LINE = "----"


@dataclass(frozen=True, slots=True)
class Case:
    """One case: a bare word ``w`` of the command line is in ``args`` as ``{"w": ""}``."""

    line: int
    head: tuple[str, ...]  # comments and blank lines before it, and its command line
    command: str
    args: dict[str, str]
    input: str
    expected: str


def parse(text: str) -> tuple[list[Case], tuple[str, ...]]:
    """Return the cases of a file, and the comments that follow the last one."""
    lines = text.splitlines()
    cases: list[Case] = []
    at = 0
    while True:
        start = at
        while at < len(lines) and (not lines[at].strip() or lines[at].startswith("#")):
            at += 1
        if at == len(lines):
            return cases, tuple(lines[start:])
        number, command_line = at + 1, lines[at]
        at = _find(lines, at + 1, [LINE], number)
        body = lines[number:at]
        if lines[at + 1 : at + 2] == [LINE]:
            end = _find(lines, at + 2, [LINE, LINE], number)
            output, at = lines[at + 2 : end], end + 2
        else:
            end = at + 1
            while end < len(lines) and lines[end].strip():
                end += 1
            output, at = lines[at + 1 : end], end
        command, *words = shlex.split(command_line)
        args = {key: value for key, _, value in (word.partition("=") for word in words)}
        head = tuple(lines[start:number])
        cases.append(Case(number, head, command, args, "\n".join(body), "\n".join(output)))


def _find(lines: list[str], start: int, wanted: list[str], case: int) -> int:
    for at in range(start, len(lines)):
        if lines[at : at + len(wanted)] == wanted:
            return at
    raise ValueError(f"the case on line {case} has no {' '.join(wanted)}")


def write(cases: list[Case], outputs: list[str], tail: tuple[str, ...] = ()) -> str:
    """Return the text of a file with these outputs; comments and blank lines stay."""
    lines: list[str] = []
    for case, output in zip(cases, outputs, strict=True):
        shown = output.splitlines()
        if any(not line.strip() for line in shown) or LINE in shown:
            shown = [LINE, *shown, LINE, LINE]
        lines += [*case.head, *case.input.splitlines(), LINE, *shown]
    return "\n".join([*lines, *tail]) + "\n"


def check(path: Path, evaluate: Callable[[Case], str], rewrite: bool = False) -> None:
    """Evaluate every case of a file; fail with a diff of what differs, or rewrite it."""
    before = path.read_text(encoding="utf-8")
    cases, tail = parse(before)
    if not cases:
        raise ValueError(f"{path} holds no case")
    outputs = [evaluate(case).rstrip("\n") for case in cases]
    if rewrite:
        after = write(cases, outputs, tail)
        if after != before:
            path.write_text(after, encoding="utf-8")
        changed = [
            f"{path.name}:{case.line}"
            for case, output in zip(cases, outputs, strict=True)
            if case.expected.strip() and output != case.expected
        ]
        if changed:
            pytest.fail(f"Written; these had another output before: {changed}", pytrace=False)
        return
    wrong = [
        f"{path.name}:{case.line}: {' '.join(case.head[-1:])}\n{case.input}\n"
        + "\n".join(difflib.ndiff(case.expected.splitlines(), output.splitlines()))
        for case, output in zip(cases, outputs, strict=True)
        if output != case.expected
    ]
    if wrong:
        pytest.fail("\n\n".join(wrong) + "\n\n(--rewrite accepts what was found)", pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="rewrite the outputs of fixture files")


@pytest.fixture
def datadriven(request: pytest.FixtureRequest) -> Callable[[Path, Callable[[Case], str]], None]:
    """Return ``check`` with the choice made on the command line."""
    rewrite = bool(request.config.getoption("--rewrite"))
    return lambda path, evaluate: check(path, evaluate, rewrite)
