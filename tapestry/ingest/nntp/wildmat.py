"""Wildmats: patterns of newsgroup names (RFC 3977, section 4), such as ``comp.*,!comp.sys.*``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tapestry.core.errors import TapestryError

_NAME = re.compile(r"!?[^\s,!\x00-\x1f\x7f\\]+")


def is_pattern(pattern: str) -> bool:
    """Return whether this is a wildmat and not the name of one group.

    >>> is_pattern("comp.*"), is_pattern("comp.misc"), is_pattern("!comp.misc")
    (True, False, True)
    """
    return pattern.startswith("!") or any(sign in pattern for sign in "*?[")


def check_pattern(pattern: str) -> None:
    """Raise TapestryError unless this is the name of a group or a wildmat."""
    if not _NAME.fullmatch(pattern) or len(pattern) > 450:
        raise TapestryError(
            f"“{pattern[:80]}” is neither a newsgroup nor a pattern.",
            hint="Write comp.databases, comp.* for all below comp, !comp.sys.* to leave some out.",
        )


def matches(patterns: Sequence[str], group: str) -> bool:
    """Return whether the last wildmat that matches a group includes it.

    >>> [matches(["a.*", "!a.b.*", "a.b.c"], group) for group in ("a.x", "a.b.x", "a.b.c", "z")]
    [True, False, True, False]
    """
    for pattern in reversed(patterns):
        if _compiled(pattern.removeprefix("!")).fullmatch(group):
            return not pattern.startswith("!")
    return False


@lru_cache(maxsize=1000)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return an expression without backtracking: what stands between two stars is found once."""
    first, *others = [re.escape(piece).replace(r"\?", ".") for piece in pattern.split("*")]
    if not others:
        return re.compile(first, re.DOTALL)
    *middle, last = others
    searches = "".join(f"(?>.*?{piece})" for piece in middle if piece)
    return re.compile(f"{first}{searches}.*{last}", re.DOTALL)
