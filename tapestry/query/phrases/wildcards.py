r"""Texts with wildcards, ``*report*``: ``*`` is any text, ``?`` a character, after ``\`` a sign."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\\.|.", re.DOTALL)
_ESCAPED = {"%": r"\%", "_": r"\_", "\\": r"\\"}
_REGEX = re.compile(
    r"\.\*|\.|\\(?P<sign>\W)|\[(?P<one>[^\w\s^])\]|(?P<plain>[\w\s@<>:,;'\"/=!&%#-])"
)
_SIGNS = ("*", "?", "\\")


def like_pattern(text: str) -> str:
    r"""Return the pattern of LIKE that a text with wildcards is.

    >>> like_pattern("*re?ort*"), like_pattern(r"100%\?")
    ('%re_ort%', '100\\%?')
    """
    pieces = _PIECE.findall(text)
    return "".join(
        {"*": "%", "?": "_"}.get(piece) or _ESCAPED.get(piece[-1], piece[-1]) for piece in pieces
    )


def of_like(pattern: str) -> str:
    r"""Return the text with wildcards that a pattern of LIKE is.

    >>> of_like("%re_ort%"), of_like(r"why?\%")
    ('*re?ort*', 'why\\?%')
    """
    pieces = _PIECE.findall(pattern)
    return "".join({"%": "*", "_": "?"}.get(piece) or _literal(piece[-1]) for piece in pieces)


def of_regex(pattern: str) -> str | None:
    r"""Return what a regular expression says with wildcards, None if they cannot say it.

    >>> of_regex(r"^\[SPAM\]"), of_regex("h.llo"), of_regex("a|b"), of_regex(r"why\?")
    ('[SPAM]*', '*h?llo*', None, '*why\\?*')
    """
    inner = pattern.removeprefix("^").removesuffix("$")
    pieces = list(_REGEX.finditer(inner))
    if sum(len(piece[0]) for piece in pieces) != len(inner):
        return None
    text = "".join(map(_piece, pieces))
    begin = "" if pattern.startswith("^") or text.startswith("*") else "*"
    end = "" if pattern.endswith("$") or text.endswith("*") else "*"
    return f"{begin}{text}{end}"


def _piece(found: re.Match[str]) -> str:
    if found[0] in (".", ".*"):
        return {".": "?", ".*": "*"}[found[0]]
    return _literal(found["sign"] or found["one"] or found["plain"])


def _literal(sign: str) -> str:
    return f"\\{sign}" if sign in _SIGNS else sign
