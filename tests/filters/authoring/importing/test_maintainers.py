"""A MAINTAINERS file: a filter for each subsystem, of its files and its list."""

from __future__ import annotations

import pytest

from filters.authoring.importing.entries import UnreadableFileError
from filters.authoring.importing.files import read_file
from filters.authoring.importing.imports import read_for
from filters.authoring.importing.maintainers import (
    BELOW,
    CHOOSE,
    IN_TEXT,
    LEAVES_OUT,
    NO_REGEX,
    OF_ALL,
    SHARED,
    WIDER,
    YOURS,
)
from filters.authoring.importing.offers import NOT_ALL
from filters.people.models import User
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree.printer import print_tql

FILE = """\
List of maintainers
===================

Descriptions of section entries:

EXT4 FILE SYSTEM
M:\t"Theodore Ts'o" <tytso@mit.edu>
L:\tlinux-ext4@vger.kernel.org
L:\tlinux-kernel@vger.kernel.org
S:\tMaintained
F:\tfs/ext4/
F:\tinclude/trace/events/ext4.h
X:\tfs/ext4/test/

TEGRA SUPPORT
R:\tMary <mary@x.org>
F:\tdrivers/tegra/*
N:\ttegra
N:\t[^a-z]tegra
N:\tt[0-9]
K:\ttegra_init
K:\t\\b(?i:host|dma)1x_(get)?
"""


def test_a_subsystem_is_a_filter_of_its_files_and_its_list() -> None:
    ext4, tegra = read_file(FILE.encode())
    assert (ext4.title, tegra.title) == ("EXT4 FILE SYSTEM", "TEGRA SUPPORT")
    assert print_tql(read(ext4.text, Context())) == (
        "(m.diff_paths LIKE 'fs/ext4/%' OR m.diff_paths = 'include/trace/events/ext4.h' OR "
        "m.diff_paths LIKE 'include/trace/events/ext4.h/%') AND m.diff_paths NOT LIKE "
        "'fs/ext4/test/%' OR m.to = 'linux-ext4@vger.kernel.org' OR "
        "m.cc = 'linux-ext4@vger.kernel.org'"
    )
    assert print_tql(read(tegra.text, Context())) == (
        "m.diff_paths LIKE 'drivers/tegra/%' OR m.diff_paths LIKE '%tegra%' OR "
        "m.diff_paths LIKE '%_tegra%' OR m.body LIKE '%tegra\\_init%' OR "
        "m.body LIKE '%host1x\\_%' OR m.body LIKE '%dma1x\\_%'"
    )


def test_what_is_only_nearly_so_is_shown_with_its_reason() -> None:
    ext4, tegra = read_file(FILE.encode())
    problems = [clause.problem for entry in (ext4, tegra) for clause in entry.clauses]
    assert [problem for problem in problems if problem] == [
        *(OF_ALL, LEAVES_OUT),
        *(BELOW, WIDER, NO_REGEX, IN_TEXT, WIDER),
    ]
    assert ext4.objection and not ext4.is_exact


def test_what_its_reader_reviews_is_first_and_ticked(alice: User) -> None:
    alice.aliases = ["mary@x.org"]
    loom = "\nLOOM\nR:\tMary <Mary@X.org>\nF:\tdrivers/loom/\n"
    answer = read_for(alice, (FILE + loom).encode(), is_pasted=False)
    tegra, theirs, ext4 = answer["offers"]
    titles = [offer["entry"]["title"] for offer in (tegra, theirs, ext4)]
    assert titles == ["TEGRA SUPPORT", "LOOM", "EXT4 FILE SYSTEM"]
    assert [offer["problem"] for offer in (tegra, theirs)] == [NOT_ALL, ""]
    assert CHOOSE in ext4["problem"]
    assert theirs["is_ticked"] and not ext4["is_ticked"]
    assert theirs["entry"]["clauses"][0]["text"] == YOURS


def test_a_class_of_characters_is_each_of_them() -> None:
    lines = ("F:\tirq-gic*.[ch]", "X:\tda[0-9].c", "F:\tx[ab][cd].h")
    (entry,) = read_file("\n".join(("GIC", *lines)).encode())
    assert entry.text == (
        '(touching "irq-gic*.c" or touching "irq-gic*.h" or touching "x??.h") '
        'and not (touching "da?.c")'
    )
    assert [clause.problem for clause in entry.clauses] == [BELOW, LEAVES_OUT, WIDER]


@pytest.mark.parametrize(
    "pattern", ["(a|b)" * 50, "((((" * 99, "a|" * 99 + "b", "[" * 99, "(?!x)y"]
)
def test_a_pattern_that_cannot_be_said_is_refused(pattern: str) -> None:
    (entry,) = read_file(f"BAD\nF:\tfs/\nK:\t{pattern}\n".encode())
    assert entry.text == 'touching "fs/"'
    assert entry.clauses[1].problem == NO_REGEX


def test_a_list_of_many_subsystems_is_that_of_none() -> None:
    sections = [f"SYSTEM {number}\nL:\tall@x.org\nF:\tfs/{number}/\n" for number in range(SHARED)]
    assert all("to all@x.org" in entry.text for entry in read_file("\n".join(sections).encode()))
    sections.append("LAST\nL:\tall@x.org\nF:\tfs/last/\n")
    assert not any("all@x.org" in entry.text for entry in read_file("\n".join(sections).encode()))


def test_a_file_without_files_is_refused() -> None:
    with pytest.raises(UnreadableFileError):
        read_file(b"THE REST\nM:\tLinus <l@x.org>\nL:\tlinux-kernel@vger.kernel.org\n")
