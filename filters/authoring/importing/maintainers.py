"""Filters of a MAINTAINERS file, as Linux and others have it: one for each subsystem.

EXT4 FILE SYSTEM
L:  linux-ext4@vger.kernel.org        mail to this list,
F:  fs/ext4/                          and patches to these files,
X:  fs/ext4/test/                     but not to those
R:  Mary <mary@x.org>                 for Mary it is among the first, and ticked
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

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
WIDER = "Approximately: it finds more than this pattern."
IN_TEXT = "Approximately: it may stand anywhere in the text, not in changed lines alone."
NO_REGEX = "Not translated: a filter has no such regular expression."
OF_ALL = "Not translated: it is a list of many subsystems, and all of its mail would be found."

_LINE = re.compile(r"^([A-Z]):[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_SECTION = re.compile(r"^(?![A-Z]:[ \t])(\S.*)\n((?:[A-Z]:[ \t]+\S.*(?:\n|\Z))+)", re.MULTILINE)
_ADDRESS = re.compile(r"[^\s<>()]+@[^\s<>()]+")
_CLASS = re.compile(r"\[([^]]+)\]")
_GROUP = re.compile(r"\((?:\?:|\?i:)?([^()]*)\)([?*+]?)")
_REPEATED = re.compile(r"(?:\\\W|[^\\?*+|()])(?:[?*+])")
_MOST_GROUPS, _MOST_OPTIONS = 3, 24
_LEAST = 3
"""Letters and digits, at least, of what is looked for in place of a regular expression."""

_MEANT = "LFXNK"
_PEOPLE = "MR"
NOBODYS, YOURS = "no part of the filter", "no part of the filter: it is ticked, for this is you"


def is_maintainers(text: str) -> bool:
    r"""Tell whether a text has a subsystem with files or a list.

    >>> is_maintainers("EXT4\nM:\tTed <t@x.org>\nF:\tfs/ext4/\n"), is_maintainers("keep;")
    (True, False)
    """
    return any(re.search(r"^[LF]:", found[2], re.MULTILINE) for found in _SECTION.finditer(text))


def read_maintainers(text: str, addresses: Collection[str] = ()) -> list[Entry]:
    """Return a filter for each subsystem that has one; raises UnreadableFileError of none.

    First, and ticked, are those that one of the addresses maintains or reviews.
    """
    sections = [(found[1], _LINE.findall(found[2])) for found in _SECTION.finditer(text)]
    lists = Counter(
        value for _, lines in sections for tag, line in lines if tag == "L"
        for value in _ADDRESS.findall(line)[:1]
    )  # fmt: skip
    entries = [_entry(title, lines, lists, addresses) for title, lines in sections]
    found = sorted((entry for entry in entries if entry.text), key=lambda entry: entry.objection)
    if not found:
        raise UnreadableFileError("No subsystem of this file has files, or a list of its own.")
    return found


def _entry(
    title: str,
    lines: list[tuple[str, str]],
    lists: Mapping[str, int],
    addresses: Collection[str],
) -> Entry:
    theirs = [value for tag, value in lines if tag in _PEOPLE and _is_of(value, addresses)]
    clauses = [clause for line in lines for clause in _clauses(*line, lists, theirs)]
    texts = {tag: list(_texts(tag, clauses)) for tag in _MEANT}
    patches = " or ".join([*texts["F"], *texts["N"], *texts["K"]])
    if patches and texts["X"]:
        patches = f"({patches}) and {' and '.join(texts['X'])}"
    text = " or ".join(filter(None, [patches, *texts["L"]]))
    is_exact = not any(clause.problem for clause in clauses)
    shown_clauses = tuple(clauses[:MOST_CLAUSES])
    objection = "" if theirs else CHOOSE
    return Entry(as_title(title), text, shown_clauses, is_exact, objection=objection)


def _is_of(value: str, addresses: Collection[str]) -> bool:
    return any(address.casefold() in addresses for address in _ADDRESS.findall(value))


def _texts(tag: str, clauses: list[Clause]) -> Iterator[str]:
    return (clause.text for clause in clauses if clause.text and clause.source[:1] == tag)


def _clauses(
    tag: str, value: str, lists: Mapping[str, int], theirs: Collection[str]
) -> Iterator[Clause]:
    """Yield what a line says, as a phrase; lines of other tags say nothing of a message."""
    source = shown(f"{tag}: {value}")
    if tag in _PEOPLE:
        yield Clause(source, YOURS if value in theirs else NOBODYS, is_action=True)
    elif tag == "L":
        yield from _list(source, value, lists)
    elif tag in "FX" and '"' not in value:
        paths = _paths(value)
        touching = " or ".join(f'touching "{path}"' for path in paths)
        if tag == "X":
            yield Clause(source, f"not ({touching})", LEAVES_OUT)
        else:
            is_wider = "?" in paths[0] and "?" not in value
            yield Clause(source, touching, WIDER if is_wider else BELOW if "*" in value else "")
    elif tag in "NK":
        yield _regex(source, value, 'touching "{}"' if tag == "N" else 'with a body like "{}"')


def _paths(value: str) -> list[str]:
    """Return the paths of a line, of which each is one of those with a class of characters.

    >>> _paths("irq-gic*.[ch]"), _paths("da[0-9].c")
    (['irq-gic*.c', 'irq-gic*.h'], ['da?.c'])
    """
    found = _CLASS.search(value)
    if found is None:
        return [value]
    signs = "?" if re.search(r"[\W_]", found[1]) else found[1]
    if value.count("[") > 1:
        return [_CLASS.sub("?", value)]
    return [value.replace(found[0], sign, 1) for sign in signs]


def _regex(source: str, pattern: str, phrase: str) -> Clause:
    """Return a regular expression as a phrase of wildcards, which finds more if need be."""
    exact = of_regex(pattern)
    is_long = len(_GROUP.findall(pattern)) > _MOST_GROUPS or pattern.count("|") > _MOST_OPTIONS
    parts = [] if is_long else _wider(pattern)
    forms = [exact] if exact else [of_regex(part) for part in parts]
    if not forms or not all(form and len(re.findall(r"[^\W_]", form)) >= _LEAST for form in forms):
        return Clause(source, problem=NO_REGEX)
    text = " or ".join(phrase.format(str(form).replace('"', '""')) for form in forms)
    return Clause(source, text, WIDER if not exact else "" if "touching" in phrase else IN_TEXT)


def _wider(pattern: str) -> list[str]:
    r"""Return alternatives that find together what a regular expression does, and more.

    >>> _wider(r"\b(?i:clang|llvm)\b"), _wider(r"bcm[9]?63138"), _wider("(devm_)?gpio_(get|set)")
    (['clang', 'llvm'], ['bcm.*63138'], ['.*gpio_get', '.*gpio_set'])
    """
    simple = re.sub(r"\\b|\(\?i\)", "", pattern)
    simple = _REPEATED.sub(".*", re.sub(r"\\[swdSWD]", ".", _CLASS.sub(".", simple)))
    found = _GROUP.search(simple)
    if found is None:
        return list(dict.fromkeys(simple.split("|")))
    options = [".*"] if found[2] else found[1].split("|")
    alternatives = (_wider(simple.replace(found[0], option, 1)) for option in options)
    return list(dict.fromkeys(part for parts in alternatives for part in parts))


def _list(source: str, value: str, lists: Mapping[str, int]) -> Iterator[Clause]:
    for address in _ADDRESS.findall(value)[:1]:
        is_of_all = lists[address] > SHARED or address == "linux-kernel@vger.kernel.org"
        if is_of_all:
            yield Clause(source, problem=OF_ALL)
        else:
            yield Clause(source, f"to {address}")
