"""Filters of a MAINTAINERS file, as Linux and others have it: one for each subsystem.

EXT4 FILE SYSTEM
L:  linux-ext4@vger.kernel.org        mail to this list,
F:  fs/ext4/                          and patches to these files,
X:  fs/ext4/test/                     but not to those
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from filters.authoring.importing.entries import (
    MOST_CLAUSES,
    Clause,
    Entry,
    UnreadableFileError,
    shown,
)
from filters.authoring.models import as_title
from tapestry.query.phrases.wildcards import of_regex

CHOOSE = "Tick the subsystems that you want filters for."
SHARED = 20
"""Subsystems that name a list, at most, where all of its mail is wanted by each of them."""

BELOW = "Approximately: what is in folders below is found, too."
LEAVES_OUT = "Approximately: a patch that touches others as well is left out."
IN_TEXT = "Approximately: it may stand anywhere in the text, not in changed lines alone."
NO_REGEX = "Not translated: a filter has no such regular expression."
OF_ALL = "Not translated: it is a list of many subsystems, and all of its mail would be found."

_LINE = re.compile(r"^([A-Z]):[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_SECTION = re.compile(r"^(?![A-Z]:[ \t])(\S.*)\n((?:[A-Z]:[ \t]+\S.*(?:\n|\Z))+)", re.MULTILINE)
_ADDRESS = re.compile(r"[^\s<>()]+@[^\s<>()]+")
_MEANT = "LFXNK"
_PEOPLE = "MR"


def is_maintainers(text: str) -> bool:
    r"""Tell whether a text has a subsystem with files or a list.

    >>> is_maintainers("EXT4\nM:\tTed <t@x.org>\nF:\tfs/ext4/\n"), is_maintainers("keep;")
    (True, False)
    """
    return any(re.search(r"^[LF]:", found[2], re.MULTILINE) for found in _SECTION.finditer(text))


def read_maintainers(text: str) -> list[Entry]:
    """Return a filter for each subsystem that has one; raises UnreadableFileError of none."""
    sections = [(found[1], _LINE.findall(found[2])) for found in _SECTION.finditer(text)]
    lists = Counter(
        value for _, lines in sections for tag, line in lines if tag == "L"
        for value in _ADDRESS.findall(line)[:1]
    )  # fmt: skip
    entries = [_entry(title, lines, lists) for title, lines in sections]
    found = [entry for entry in entries if entry.text]
    if not found:
        raise UnreadableFileError("No subsystem of this file has files, or a list of its own.")
    return found


def _entry(title: str, lines: list[tuple[str, str]], lists: Mapping[str, int]) -> Entry:
    clauses = [clause for tag, value in lines for clause in _clauses(tag, value, lists)]
    texts = {tag: list(_texts(tag, clauses)) for tag in _MEANT}
    patches = " or ".join([*texts["F"], *texts["N"], *texts["K"]])
    if patches and texts["X"]:
        patches = f"({patches}) and {' and '.join(texts['X'])}"
    text = " or ".join(filter(None, [patches, *texts["L"]]))
    is_exact = not any(clause.problem for clause in clauses)
    shown_clauses = tuple(clauses[:MOST_CLAUSES])
    return Entry(as_title(title), text, shown_clauses, is_exact, objection=CHOOSE)


def _texts(tag: str, clauses: list[Clause]) -> Iterator[str]:
    return (clause.text for clause in clauses if clause.text and clause.source[:1] == tag)


def _clauses(tag: str, value: str, lists: Mapping[str, int]) -> Iterator[Clause]:
    """Yield what a line says, as a phrase; lines of other tags say nothing of a message."""
    source = shown(f"{tag}: {value}")
    if tag in _PEOPLE:
        yield Clause(source, "no part of the filter", is_action=True)
    elif tag == "L":
        yield from _list(source, value, lists)
    elif tag in "FX" and '"' not in value:
        is_open = value.endswith("*")
        touching = f'touching "{value}"'
        if tag == "X":
            yield Clause(source, f"not {touching}", LEAVES_OUT)
        else:
            yield Clause(source, touching, BELOW if is_open else "")
    elif tag in "NK":
        form = of_regex(value)
        if form is None or '"' in form:
            yield Clause(source, problem=NO_REGEX)
        elif tag == "N":
            yield Clause(source, f'touching "{form}"')
        else:
            yield Clause(source, f'with a body like "{form}"', IN_TEXT)


def _list(source: str, value: str, lists: Mapping[str, int]) -> Iterator[Clause]:
    for address in _ADDRESS.findall(value)[:1]:
        is_of_all = lists[address] > SHARED or address == "linux-kernel@vger.kernel.org"
        if is_of_all:
            yield Clause(source, problem=OF_ALL)
        else:
            yield Clause(source, f"to {address}")
