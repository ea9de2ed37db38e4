"""Patches in mail, as git sends them: the files that a diff touches, and the place in a series."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_PATHS = 1000
"""Paths of one message that are kept."""

LONGEST_PATH = 1000
"""Characters of a path; a longer one is not kept."""

_GIT = re.compile(r"diff --git (.+)")
_OLD = re.compile(r"(?:---|\*\*\*) (\S.*)")
_NEW = re.compile(r"(?:\+\+\+|---) (\S.*)")
_MOVED = re.compile(r"(?:rename|copy) (?:from|to) (.+)")
_HUNK = re.compile(r"@@ -[0-9]|\*{15}")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\t]*)')
_AFTER = re.compile(
    r"(?<!\s)\s+(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[A-Z][a-z]{2} [A-Z][a-z]{2} |\((?:rev|work)).*"
)
"""What diff and svn write after a path, where mail has made blanks of the tab."""

_ESCAPED = re.compile(r"\\([0-7]{3}|.)")
_CONTROLS = {"n": b"\n", "t": b"\t", "a": b"\a", "b": b"\b", "f": b"\f", "r": b"\r", "v": b"\v"}
_SIDES = ("a/", "b/", "c/", "i/", "o/", "w/")
"""What git writes before a path: of the old and the new side, with its mnemonics as well."""

_TAGS = re.compile(r"\s*((?:\[[^\[\]]*\]\s*)+)")
_SERIES = re.compile(r"\[(?=[^\]]*\bPATCH)(?:[^\]]*?\b([0-9]{1,4})/[0-9]{1,4})?", re.IGNORECASE)
_LETTERS = re.compile(r"\bpatch(?=v?[0-9])", re.IGNORECASE)


def changed_paths(text: str) -> Iterator[str]:
    r"""Yield the paths that diffs in a text name, old and new; what is quoted by ``>`` is none.

    >>> list(changed_paths("diff --git a/fs/x.c b/fs/y.c\nrename from fs/x.c\nrename to fs/y.c\n"))
    ['fs/x.c', 'fs/y.c', 'fs/x.c', 'fs/y.c']
    >>> list(changed_paths("--- x.c.orig\t2004-01-31\n+++ x.c\t2004-02-01\n@@ -1 +1 @@\n"))
    ['x.c.orig', 'x.c']
    """
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if git := _GIT.fullmatch(line):
            yield from _both(git[1])
        elif moved := _MOVED.fullmatch(line):
            yield from _path(moved[1])
        elif (old := _OLD.fullmatch(line)) and _HUNK.match("".join(lines[number + 2 : number + 3])):
            new = _NEW.fullmatch(lines[number + 1])
            if new:
                yield from _path(old[1], is_sided=True)
                yield from _path(new[1], is_sided=True)


def place_in_series(subject: str | None) -> int | None:
    """Return N of ``[PATCH N/M]`` in a subject, 1 of a patch alone; None of anything else.

    A cover letter is 0.  What answers a patch is none.

    >>> place_in_series("[RFC PATCH net-next v2 00/12] x"), place_in_series("[PATCH] x")
    (0, 1)
    >>> place_in_series("Re: [PATCH 1/2] x"), place_in_series("[list] [PATCHv3 2/3] x")
    (None, 2)
    """
    tags = _TAGS.match(subject or "")
    found = tags and _SERIES.search(_LETTERS.sub("patch ", tags[1]))
    return int(found[1] or 1) if found else None


def _both(sides: str) -> Iterator[str]:
    """Yield both paths of ``diff --git``; those that have blanks can be parted if they are alike.

    Paths that differ stand in the lines below it, too.
    """
    half = len(sides) // 2
    one, other = sides[:half], sides[half + 1 :]
    if sides[half] != " " or one[2:] != other[2:]:
        one, _, other = sides.partition(" ")
    if '"' not in sides and " " in other:
        return
    yield from _path(one, is_sided=True)
    yield from _path(other, is_sided=True)


def _path(written: str, *, is_sided: bool = False) -> Iterator[str]:
    found = _PATH.match(_AFTER.sub("", written))
    quoted, plain = found.groups() if found else ("", "")
    path = _unquoted(quoted) if quoted else (plain or "").strip()
    if is_sided and path.startswith(_SIDES):
        path = path[2:]
    if 0 < len(path) <= LONGEST_PATH and path != "/dev/null":
        yield path


def _unquoted(path: str) -> str:
    r"""Return a path that stands in quotes, with bytes as git writes them: ``\303\244``."""
    parts = _ESCAPED.split(path)
    texts = (part.encode("utf-8", "surrogatepass") for part in parts[::2])
    signs = (
        bytes((int(sign, 8) & 255,)) if len(sign) == 3 else _CONTROLS.get(sign) or sign.encode()
        for sign in parts[1::2]
    )
    whole = b"".join(b for pair in zip(texts, [*signs, b""], strict=True) for b in pair)
    return whole.decode("utf-8", "replace")
