"""Searches of programs with a notation of their own, rewritten with common operators.

notmuch writes ``(and (from mary) (not lunch))``, others ``from=mary&subject=lunch``, options as
``-f mary -s lunch``, or rules as ``(subject,contains,lunch)``: all are ``from:mary subject:lunch``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tapestry.query.operators.sieve import of_sieve
from tapestry.query.operators.syntax import before_colon
from tapestry.query.operators.translation import DIRECTLY, NAMES, THREAD_WITH
from tapestry.query.phrases.grammar import FIRST_WORDS
from tapestry.query.phrases.slips import is_slip

_NAME = rf"(?:{before_colon(NAMES)})"
_VALUE = r"[^\s=&()'\"<>]+"
_QUOTED = r'"[^"]*"'
_MARK = re.compile(r"[-=:({+~%\"]")
"""Each of the notations has one of these signs."""


def in_common(text: str) -> str | None:
    """Return a search in another notation with common operators, None of any other text.

    >>> in_common("from=mary&since=2026-01-01"), in_common("-f mary router"), in_common("from mary")
    ('from:mary since:2026-01-01', 'from:mary subject:router', None)
    >>> in_common("(or (to joe) (subject next friday))"), in_common("(not lunch dinner)")
    ('(to:joe OR (subject:next AND subject:friday))', '(-lunch AND -dinner)')
    >>> in_common("AND (subject,contains,lunch) AND (from,doesn't contain,joe)")
    '(subject:"lunch" AND -from:"joe")'
    """
    if not _MARK.search(text):  # as in most phrases
        return None
    return next((common for notation in _NOTATIONS if (common := notation(text.strip()))), None)


# name=value&name=value

_PAIR = rf"{_NAME}={_VALUE}"
_TO_ALONE = "to-only"
_PAIRS = re.compile(rf"{_PAIR}(?:(?:&|\s+){_PAIR})*(&{_TO_ALONE})?", re.IGNORECASE)


def _pairs(text: str) -> str | None:
    found = _PAIRS.fullmatch(text)
    if not found:
        return None
    if found[1]:
        text = re.sub(r"\bto=", f"{DIRECTLY}=", text[: found.start(1)], flags=re.IGNORECASE)
    return re.sub(rf"({_NAME})=", r"\1:", text.replace("&", " "), flags=re.IGNORECASE)


# -f mary -s lunch

_LETTERS = {"f": "from", "t": "to", "c": "cc", "s": "subject", "b": "body", "d": "date"}
_FLAGS = "answered|flagged|seen"
_OPTION = (
    rf"-(?:[{''.join(_LETTERS)}]\s+|H\s+list-id:\s*)(?:{_QUOTED}|[^\s\"-][^\s\"]*)"
    rf"|-x\s+(?:{_FLAGS})"
)
_OPTIONS = re.compile(rf"(?:(?:{_OPTION})\s+)*(?:{_OPTION})((?:\s+[^\s\"-]\S*)*)", re.IGNORECASE)


def _options(text: str) -> str | None:
    """Return what options of aerc say; words after them are of the subject."""
    found = _OPTIONS.fullmatch(text)
    if not found:
        return None
    options = re.sub(r"-H\s+list-id:\s*", "list:", text[: found.start(1)], flags=re.IGNORECASE)
    options = re.sub(r"(?<!\S)-x\s+", "is:", options)
    options = re.sub(r"(?<!\S)-X\s+", "-is:", options)
    options = re.sub(r"(?<!\S)-(\w)\s+", lambda option: f"{_LETTERS[option[1].lower()]}:", options)
    options = re.sub(r"\bdate:([^\s.]+)\.\.([^\s.]+)", r"since:\1 before:\2", options)
    return " ".join([options, *[f"subject:{word}" for word in found[1].split()]])


# (subject,contains,lunch)

_NEGATIVE = ("doesn't contain", "isn't")
_RULE = re.compile(rf"\(({_NAME}),(contains|is|{'|'.join(_NEGATIVE)}),([^()\"]+)\)", re.IGNORECASE)
_RULES = re.compile(
    rf"(?:(AND|OR)\s*)?\{{?{_RULE.pattern}(?:\s*(?:AND|OR)\s*{_RULE.pattern})*\}}?", re.IGNORECASE
)


def _rules(text: str) -> str | None:
    """Return what rules of Thunderbird say; the word before the first joins all of them."""
    inner = re.sub(r"\A(?:AND|OR)\s*", "", text, flags=re.IGNORECASE)
    if not _RULES.fullmatch(text):
        return None
    return f"({_RULE.sub(_rule, inner.strip('{}'))})"


def _rule(found: re.Match[str]) -> str:
    sign = "-" if found[2].lower() in _NEGATIVE else ""
    return f'{sign}{found[1]}:"{found[3]}"'


# "subject" =~ "lun.h"

_PATTERN = re.compile(rf'"?({_NAME})"?\s*=~\s*"([^"/]+)"', re.IGNORECASE)


def _pattern(text: str) -> str | None:
    found = _PATTERN.fullmatch(text)
    name = found and {"to": DIRECTLY}.get(found[1].lower(), found[1])
    return f"{name}:/{found[2]}/" if found else None


# Subject contains: lunch

_VERBS = {
    "contains": "{}",
    "is": "{}",
    "begins with": "/^{}/",
    "ends with": "/{}$/",
    "doesn't contain": "-",
    "isn't": "-",
}
_CONDITION = re.compile(
    rf"(?<!\S)(?P<name>from|to|cc|subject|body)\s+(?P<verb>{'|'.join(_VERBS)}):"
    rf"\s*(?P<value>{_QUOTED}|[^\s()\"]+)",
    re.IGNORECASE,
)


def _conditions(text: str) -> str | None:
    """Return conditions of rules, of which each names a field, a verb and after a colon a value."""
    common = _CONDITION.sub(_condition, text)
    return None if common == text else common


def _condition(found: re.Match[str]) -> str:
    form, name = _VERBS[found["verb"].lower()], found["name"].lower()
    if "/" not in form:
        return f"{'-' if form == '-' else ''}{name}:{found['value']}"
    return f"{name}:{form.format(re.escape(found['value'].strip(chr(34))))}"


# thread:{from:mary}

_THREAD = re.compile(r'(?<!\S)(-?)thread:("?)\{([^{}]*)\}\2(?!\S)', re.IGNORECASE)
_BY_ONE = re.compile(rf"\s*from:({_QUOTED}|[^\s()\"]+)\s*", re.IGNORECASE)


def _threads(text: str) -> str | None:
    """Return a search in which threads are those in which a person wrote."""
    common = _THREAD.sub(_thread, text)
    return None if common == text else common


def _thread(found: re.Match[str]) -> str:
    inner = found[3].replace('""', '"') if found[2] else found[3]
    by_one = _BY_ONE.fullmatch(inner)
    named = f"{THREAD_WITH}:{by_one[1]}" if by_one else 'thread:""'
    return found[1] + named


# year:2001 month:8

_IN_DATE = re.compile(r"(?<!\S)(year|month|day):([0-9]{1,4})(?!\S)", re.IGNORECASE)


def _day_by_parts(text: str) -> str | None:
    """Return a search in which year, month and day are one date."""
    parts = {found[1].lower(): found[2] for found in _IN_DATE.finditer(text)}
    written = [parts[name] for name in ("year", "month", "day") if name in parts]
    if len(written) < 2 or "year" not in parts or "month" not in parts:
        return None
    return f"{_IN_DATE.sub('', text)} date:{'-'.join(written)}".strip()


# =b lunch

_EXACT = re.compile(r"(?<!\S)(!?\s*)[=%]([bBcCfLstxyi]\s)")
_BY_MUTT = re.compile(r"[!^(\s]*[~=%][a-zA-Z]\s")


def _exact(text: str) -> str | None:
    """Return patterns of mutt in which texts without wildcards are as others."""
    if not _BY_MUTT.match(text) or not _EXACT.search(text):
        return None
    return _EXACT.sub(r"\1~\2", text)


# +lunch +dinner

_REQUIRED = re.compile(rf"\+(?:{_QUOTED}|\w[^\s()\"+]*)(?:\s+\+(?:{_QUOTED}|\w[^\s()\"+]*))*")


def _required(text: str) -> str | None:
    """Return words that must all be there, as they must without a plus, too."""
    if not _REQUIRED.fullmatch(text):
        return None
    return re.sub(r"(?<!\S)\+", "", text)


# (and (from mary) (subject lunch))

_TOKEN = re.compile(rf"\(|\)|{_QUOTED}|[^\s()\"]+")
_LISP = re.compile(
    rf"\((?:(?:and|or)\s+[^\s)]|not\s+(?!(?:{'|'.join(FIRST_WORDS)})\s)\w+\s+\w+\)\Z"
    rf"|{_NAME}\s+(?:\w+\s+{_QUOTED}|{_QUOTED}\s+\w+)\)\Z)",
    re.IGNORECASE,
)
"""A list that is no phrase in parentheses."""

Tree = str | list["Tree"]


def _lisp(text: str) -> str | None:
    """Return what lists in parentheses say, each of an operator and its arguments."""
    tokens = _TOKEN.findall(text)
    if not _LISP.match(text) or tokens.count("(") != tokens.count(")"):
        return None
    stack: list[list[Tree]] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token != ")":
            stack[-1].append(token)
        elif len(stack) > 1:
            stack[-2].append(stack.pop())
        else:
            return None
    try:
        return _joined("and", [_spelled(tree, "") for tree in stack[0]])
    except ValueError:
        return None


def _spelled(tree: Tree, operator: str) -> str:
    """Return a tree with common operators; raises ValueError of one that has none."""
    if isinstance(tree, str):
        return f"{operator}{tree}"
    if not tree or not isinstance(tree[0], str):
        raise ValueError("a list has no operator")
    head = tree[0].lower()
    if head in ("and", "or", "not"):
        parts = [_spelled(part, operator) for part in tree[1:]]
        signed = [f"-{part}" for part in parts] if head == "not" else parts
        return _joined("or" if head == "or" else "and", signed)
    if head not in NAMES or operator:
        raise ValueError("no operator is called so")
    return _joined("and", [_spelled(part, f"{head}:") for part in tree[1:]])


def _joined(word: str, parts: Sequence[str]) -> str:
    if not parts:
        raise ValueError("a list has no arguments")
    return parts[0] if len(parts) == 1 else f"({f' {word.upper()} '.join(parts)})"


# form:bob

_SLIP = re.compile(r"(?<![^\s({])([-!]?)([a-z_]{3,11})(?=:[^\s/:])", re.IGNORECASE)
_MISSPELT = (
    *("from", "subject", "attachment", "filename", "before", "after", "label", "larger"),
    *("smaller", "older_than", "newer_than"),
)
"""Operators that are known with a slip in their name, also where no other says it is a search."""


def _slips(text: str) -> str | None:
    respelt = _SLIP.sub(lambda found: found[1] + _meant(found[2].lower()), text)
    return respelt if respelt.lower() != text.lower() else None


def _meant(name: str) -> str:
    if name in NAMES:
        return name
    return next((known for known in _MISSPELT if is_slip(name, known)), name)


_NOTATIONS: tuple[Callable[[str], str | None], ...] = (
    _pairs,
    _options,
    _rules,
    _pattern,
    of_sieve,
    _slips,
    _conditions,
    _threads,
    _day_by_parts,
    _exact,
    _required,
    _lisp,
)
