"""LIKE in time linear in the text: its pattern as a regular expression without backtracking."""

from __future__ import annotations

import re


def like_regex(pattern: str) -> str:
    r"""Return the expression to search a text in lower case for; it is anchored at both ends.

    What stands between two ``%`` is looked for from left to right, and where it first occurs is
    never reconsidered: the groups are atomic, as they are written in Java and in Python.

    >>> like_regex("Re: %a_c%"), like_regex("%@x.org")
    ('(?s)^re:\\ (?>.*?a.c)', '(?s)^.*@x\\.org(?!.)')
    """
    first, *others = _pieces(pattern.lower())
    if not others:
        return f"(?s)^{first}(?!.)"
    *middle, last = others
    searches = "".join(f"(?>.*?{piece})" for piece in middle if piece)
    return f"(?s)^{first}{searches}" + (f".*{last}(?!.)" if last else "")


def _pieces(pattern: str) -> list[str]:
    """Return the expressions of what stands between the ``%`` of a pattern."""
    pieces = [""]
    for part in re.findall(r"\\.|.", pattern, re.DOTALL):
        if part == "%":
            pieces.append("")
        else:
            pieces[-1] += "." if part == "_" else re.escape(part[-1])
    return pieces
