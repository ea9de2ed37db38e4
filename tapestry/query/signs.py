"""Signs that a text is no list of words: what conditions, SQL and notations of programs have.

Three sets, each with the one before: what only a condition has; what words never have; what they
seldom have.
"""

from __future__ import annotations

import re

from tapestry.core.schema import COLUMNS, MESSAGES

_COLUMNS = "|".join({name for table in COLUMNS.values() for name in table})
_CONDITION = (
    rf"\bm\.(?:{'|'.join(COLUMNS[MESSAGES])})\b|\b(?:exists|count)\s*\(\s*\w+\s*:|\A\s*select\b"
)
_OF_CONDITIONS = (
    rf"\b[a-z]\.(?:{_COLUMNS})\b|\bm\s+(?:not\s+)?in\b|\A\w+\s+(?-i:(?:NOT\s+)?IN)\s+\w+\Z"
    r"|\A\(*\s*(?:not\s+)?(?:select|exists|drop)\b|\A\(*(?:not\s+)?\w+\(.*\)\s*[<>=]+\s*\S"
    r"|\A(?:not\s+)?(?:count|sum|avg|min|max|stddev|seq)\s*\(|\A(?:not\s+){3}|\({9}|(?:\w+\(){9}"
    r"|\A\w+\s*[<>]=?\s*[0-9]"
)
_OF_PROGRAMS = (
    r",contains,|(?:\A|\s):[a-z]+\s|\A[a-z_]+=\S|\A\((?:and|or|not)\s|\A(?-i:AND|OR)[({]"
    r"|(?:\A|\s)(?-i:[a-z][a-z-]{2,}):(?=[\w*\"]|/(?!/)|\Z)"
    r"|(?:\A|\s)(?:[\^!(]*~[a-z($]|-[a-z](?=\s)|\+\w|\w+~(?=\s|\Z))|\w\?{2,}\w"
)
_SELDOM = r"[=<>;\[\]]|\bm\.\w|\s:[a-z]"

_ONLY_IN_CONDITIONS = re.compile(_CONDITION, re.IGNORECASE)
_NEVER_IN_WORDS = re.compile(f"{_CONDITION}|{_OF_CONDITIONS}|{_OF_PROGRAMS}", re.IGNORECASE)
_SELDOM_IN_WORDS = re.compile(f"{_CONDITION}|{_OF_CONDITIONS}|{_SELDOM}", re.IGNORECASE)


def is_condition(text: str) -> bool:
    """Tell whether a text has what only a condition or SQL has; a subject may compare things, too.

    >>> is_condition("m.size > 5"), is_condition("is 6 > 5?"), is_condition("2 m in length")
    (True, False, False)
    """
    return _ONLY_IN_CONDITIONS.search(text) is not None


def is_notation(text: str) -> bool:
    """Tell whether a text has what words have never: a condition, Lisp, Sieve, options, patterns.

    >>> is_notation("(and lunch dinner)"), is_notation("-f mary"), is_notation("is 6 > 5?")
    (True, True, False)
    """
    return _NEVER_IN_WORDS.search(text) is not None


def may_be_code(text: str) -> bool:
    """Tell whether a text may be a condition or a rule, so that no phrase is looked for in it.

    >>> may_be_code("is 6 > 5?"), may_be_code("lunch from mary")
    (True, False)
    """
    return _SELDOM_IN_WORDS.search(text) is not None
