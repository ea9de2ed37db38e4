"""Tests of Sieve and their combinations, rewritten with common operators.

``header :contains "Subject" "lunch"`` is ``subject:/lunch/``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_QUOTED = r'"[^"]*"'
_STRINGS = rf"(?:{_QUOTED}|\[\s*{_QUOTED}(?:\s*,\s*{_QUOTED})*\s*\])"
_NOT = r"(?P<not>not\s+)?"
_TEST = re.compile(
    rf"{_NOT}(?:(?:(?P<header>header)|address)(?P<tags>(?:\s+:\w+)*)\s+(?P<headers>{_STRINGS})"
    rf"|(?P<body>body)(?P<how>(?:\s+:\w+)*))\s+(?P<values>{_STRINGS})",
    re.IGNORECASE,
)
_SIZE = re.compile(rf"{_NOT}size\s+:(over|under)\s+([0-9]+[km]?)", re.IGNORECASE)
_DATE = re.compile(rf'{_NOT}date\s+:(before|after)\s+"([0-9]{{4}}-?[0-9]{{2}}-?[0-9]{{2}})"', re.I)
_ON_LIST = re.compile(rf"{_NOT}exists\s+\[?\"list-id\"\]?", re.IGNORECASE)
_SEVERAL = re.compile(rf"{_NOT}(?P<word>anyof|allof)\s*\((?P<tests>.*)\)", re.I | re.DOTALL)
_PIECE = re.compile(rf"{_QUOTED}|[()\[\],]|[^\"()\[\],]+")

_DEEPEST = 8
"""Levels of tests in tests."""

_FIELDS = {"from": "from", "subject": "subject", "body": "body"}
_RECIPIENTS = frozenset(("to", "cc", "bcc"))
_WAYS = {":contains": "/{}/", ":matches": "/^{}$/", ":is": "/^{}$/"}
_PARTS = {":all": "{}", ":domain": "@{}", ":localpart": "{}@"}


@dataclass(frozen=True, slots=True)
class _Test:
    """A test of headers, or of the body, by some values; it may be of names beside addresses."""

    headers: frozenset[str]
    tags: tuple[str, ...]
    values: tuple[str, ...]
    is_negative: bool
    is_of_names: bool


def of_sieve(text: str) -> str | None:
    """Return what a test of Sieve says of addresses, the subject, the body, the size or the day.

    >>> of_sieve('not address :domain :is "From" "x.org"'), of_sieve('size :over 2M')
    ('-from:"@x.org"', 'larger:2M')
    >>> of_sieve('anyof (header :is "to" "joe@x.org", header :is "cc" "joe@x.org")')
    'to:"joe@x.org"'
    """
    return _of_test(text.strip().removesuffix(";"), _DEEPEST)


def _of_test(text: str, deepest: int) -> str | None:
    text = text.strip()
    several = _SEVERAL.fullmatch(text)
    if several:
        tests = _parted(several["tests"]) if deepest else []
        spelled = _several(several["word"].lower(), tests, deepest - 1)
        return spelled and _signed(several, spelled)
    if found := _ON_LIST.fullmatch(text):
        return _signed(found, "~l")
    if found := _SIZE.fullmatch(text):
        word = "larger" if found[2].lower() == "over" else "smaller"
        return _signed(found, f"{word}:{found[3]}")
    if found := _DATE.fullmatch(text):
        return _signed(found, f"{found[2].lower()}:{found[3]}")
    test = _read(text)
    return None if test is None else _spelled(test)


def _signed(found: re.Match[str], spelled: str) -> str:
    return f"{'-' if found['not'] else ''}{spelled}"


def _parted(text: str) -> list[str]:
    """Return the tests of a list, at whose commas it is parted."""
    tests, depth = [""], 0
    for piece in _PIECE.findall(text):
        depth += (piece in ("(", "[")) - (piece in (")", "]"))
        if piece == "," and not depth:
            tests.append("")
        else:
            tests[-1] += piece
    return tests


def _several(word: str, texts: Sequence[str], deepest: int) -> str | None:
    """Return what tests say together; those of some headers for the same values are one."""
    tests: dict[_Test | str, frozenset[str]] = {}
    for text in texts:
        test = _read(text.strip())
        if test is None or test.is_negative or word == "allof":
            tests[text] = frozenset()
        else:
            alike = replace(test, headers=frozenset())
            tests[alike] = tests.get(alike, frozenset()) | test.headers
    spelled = [
        _of_test(test, deepest) if isinstance(test, str) else _spelled(replace(test, headers=of))
        for test, of in tests.items()
    ]
    if not spelled or None in spelled:
        return None
    return _joined("or" if word == "anyof" else "and", list(filter(None, spelled)))


def _read(text: str) -> _Test | None:
    found = _TEST.fullmatch(text)
    if found is None:
        return None
    tags = (found["tags"] or found["how"] or "").lower().split()
    headers = ["body"] if found["body"] else _strings(found["headers"].lower())
    values = _strings(found["values"])
    is_negative, is_of_names = bool(found["not"]), bool(found["header"])
    return _Test(frozenset(headers), tuple(tags), tuple(values), is_negative, is_of_names)


def _spelled(test: _Test) -> str | None:
    """Return a test with common operators, None if it is of other headers, or in another way."""
    if not set(test.tags) <= {*_WAYS, *_PARTS} or not test.headers <= {*_FIELDS, *_RECIPIENTS}:
        return None
    names = [name for header, name in _FIELDS.items() if header in test.headers]
    names += _of_recipients(test.headers & _RECIPIENTS)
    spelled = _joined(
        "or", [f"{name}:{_value(value, test, name)}" for name in names for value in test.values]
    )
    return f"-{spelled}" if test.is_negative else spelled


def _of_recipients(headers: frozenset[str]) -> list[str]:
    """Return the operator for fields of recipients; that of blind copies is in no message."""
    visible = headers - {"bcc"}
    if not headers:
        return []
    return ["to"] if len(visible) != 1 else ["directly-to" if "to" in visible else "cc"]


def _value(value: str, test: _Test, name: str) -> str:
    part = next((tag for tag in test.tags if tag in _PARTS), ":all")
    way = next((tag for tag in test.tags if tag in _WAYS), ":is")
    is_address = "@" in value or part == ":domain"
    if way == ":is" and is_address and name not in ("subject", "body"):
        return f'"{_PARTS[part].format(value)}"'
    regex = re.sub(r"[^\w\s@]", r"\\\g<0>", value)
    if way == ":matches":
        regex = regex.replace(r"\*", ".*").replace(r"\?", ".")
    if test.is_of_names and name == "from" and "@" not in value:
        return f"/(?:{regex})/"  # for wildcards are not of names: it is refused in words
    match part, way:
        case ":domain", ":contains":
            return f"/@.*{regex}/"
        case ":domain", _:
            return f"/@{regex}$/"
        case ":localpart", ":contains":
            return f"/{regex}.*@/"
        case ":localpart", _:
            return f"/^{regex}@/"
    return _WAYS[way].format(regex)


def _strings(text: str) -> list[str]:
    return re.findall(r'"([^"]*)"', text)


def _joined(word: str, parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({f' {word.upper()} '.join(parts)})"
