"""Searches of programs with a notation of their own, rewritten with common operators.

notmuch writes ``(and (from mary) (not lunch))``, others ``from=mary&subject=lunch``, options as
``-f mary -s lunch``, or rules as ``(subject,contains,lunch)``: all are ``from:mary subject:lunch``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tapestry.query.operators.syntax import before_colon
from tapestry.query.operators.translation import NAMES
from tapestry.query.phrases.grammar import FIRST_WORDS

_NAME = rf"(?:{before_colon(NAMES)})"
_VALUE = r"[^\s=&()'\"<>]+"
_QUOTED = r'"[^"]*"'


def in_common(text: str) -> str | None:
    """Return a search in another notation with common operators, None of any other text.

    >>> in_common("from=mary&since=2026-01-01"), in_common("-f mary router"), in_common("from mary")
    ('from:mary since:2026-01-01', 'from:mary subject:router', None)
    >>> in_common("(or (to joe) (subject next friday))"), in_common("(not lunch dinner)")
    ('(to:joe OR (subject:next AND subject:friday))', '(-lunch AND -dinner)')
    >>> in_common("AND (subject,contains,lunch) AND (from,doesn't contain,joe)")
    '(subject:"lunch" AND -from:"joe")'
    """
    return next((common for notation in _NOTATIONS if (common := notation(text.strip()))), None)


# name=value&name=value

_PAIR = rf"{_NAME}={_VALUE}"
_PAIRS = re.compile(rf"{_PAIR}(?:(?:&|\s+){_PAIR})*", re.IGNORECASE)


def _pairs(text: str) -> str | None:
    if not _PAIRS.fullmatch(text):
        return None
    return re.sub(rf"({_NAME})=", r"\1:", text.replace("&", " "), flags=re.IGNORECASE)


# -f mary -s lunch

_LETTERS = {"f": "from", "t": "to", "c": "cc", "s": "subject", "b": "body", "d": "date"}
_OPTION = rf"-(?:[{''.join(_LETTERS)}]\s+|H\s+list-id:\s*)(?:{_QUOTED}|[^\s\"-][^\s\"]*)"
_OPTIONS = re.compile(rf"(?:{_OPTION}\s+)*{_OPTION}((?:\s+[^\s\"-]\S*)*)", re.IGNORECASE)


def _options(text: str) -> str | None:
    """Return what options of aerc say; words after them are of the subject."""
    found = _OPTIONS.fullmatch(text)
    if not found:
        return None
    options = re.sub(r"-H\s+list-id:\s*", "list:", text[: found.start(1)], flags=re.IGNORECASE)
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
    return f"{found[1]}:/{found[2]}/" if found else None


# header :contains "Subject" "lunch"

_STRINGS = rf"(?:{_QUOTED}|\[\s*{_QUOTED}(?:\s*,\s*{_QUOTED})*\s*\])"
_SIEVE = re.compile(
    rf"(?P<not>not\s+)?(?:(?:header|address)(?P<tags>(?:\s+:\w+)*)\s+(?P<headers>{_STRINGS})"
    rf"|(?P<body>body)(?P<how>(?:\s+:\w+)*))\s+(?P<values>{_STRINGS})\s*;?",
    re.IGNORECASE,
)
_SIZE = re.compile(r"size\s+:(over|under)\s+([0-9]+[km]?)\s*;?", re.IGNORECASE)
_ON_LIST = re.compile(r"exists\s+\[?\"list-id\"\]?\s*;?", re.IGNORECASE)
_HEADERS = {"from": "from", "to": "to", "cc": "to", "bcc": "to", "subject": "subject"}
_WAYS = {":contains": "/{}/", ":matches": "/^{}$/", ":is": "/^{}$/"}


def _sieve(text: str) -> str | None:
    """Return what a test of Sieve says of addresses, the subject, the body or the size."""
    if _ON_LIST.fullmatch(text):
        return "~l"
    size = _SIZE.fullmatch(text)
    if size:
        return f"{'larger' if size[1].lower() == 'over' else 'smaller'}:{size[2]}"
    found = _SIEVE.fullmatch(text)
    if not found:
        return None
    tags = (found["tags"] or found["how"] or "").lower().split()
    headers = ["body"] if found["body"] else _strings(found["headers"].lower())
    names = dict.fromkeys(name if name == "body" else _HEADERS.get(name, "") for name in headers)
    way = next((_WAYS[tag] for tag in tags if tag in _WAYS), _WAYS[":is"])
    if not {*tags} <= {*_WAYS, ":all"} or "" in names or headers == ["cc"]:
        return None
    values = _strings(found["values"])
    if (
        way is _WAYS[":is"]
        and names.keys() <= {"from", "to"}
        and all("@" in text for text in values)
    ):
        way = '"{}"'
    forms = [value if way == '"{}"' else _as_regex(value, tags) for value in values]
    tests = [f"{name}:{way.format(form)}" for name in names for form in forms]
    return f"{'-' if found['not'] else ''}{_joined('or', tests)}"


def _strings(text: str) -> list[str]:
    return re.findall(r'"([^"]*)"', text)


def _as_regex(value: str, tags: Sequence[str]) -> str:
    escaped = re.sub(r"[^\w\s@]", r"\\\g<0>", value)
    if ":matches" not in tags:
        return escaped
    return escaped.replace(r"\*", ".*").replace(r"\?", ".")


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


_NOTATIONS: tuple[Callable[[str], str | None], ...] = (
    _pairs,
    _options,
    _rules,
    _pattern,
    _sieve,
    _lisp,
)
