"""Tests of Sieve to conditions in TQL: of the headers that Tapestry keeps, exactly.

``:contains``, ``:is`` and ``:matches`` ignore case (RFC 5228 section 2.7.3), as LIKE does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from filters.authoring.importing.entries import Clause, shown
from filters.authoring.importing.sieve_grammar import Node
from tapestry.query.tree.printer import quote

HEADERS: dict[str, tuple[str, ...]] = {
    "subject": ("m.subject",),
    "from": ("m.sender", "m.sender_name"),
    "to": ("m.to",),
    "cc": ("m.cc",),
    "newsgroups": ("m.newsgroups",),
    "list-id": ("m.list",),
    "message-id": ("m.msgid",),
    "in-reply-to": ("m.inreplyto",),
    "references": ("m.references",),
}
"""The columns that keep each header."""

ADDRESSES = {"from": "m.sender", "to": "m.to", "cc": "m.cc"}

_SETS = {"m.to", "m.cc", "m.newsgroups", "m.references"}

_MATCHES = (":is", ":contains", ":matches")
_BRACKETED = ("list-id", "message-id", "in-reply-to", "references")
_KNOWN_TAGS = {
    "header": {*_MATCHES, ":comparator"},
    "address": {*_MATCHES, ":comparator", ":all", ":localpart", ":domain"},
    "body": {*_MATCHES, ":comparator", ":text"},
}
_COMPARATORS = {("i;ascii-casemap",), ("i;unicode-casemap",)}


@dataclass(slots=True)
class Translation:
    """Collects the clauses of a rule as its tests are translated."""

    clauses: list[Clause] = field(default_factory=list)
    is_negated: bool = False

    def condition(self, test: Node) -> str:
        """Return a test as a condition, empty if nothing of it can be translated."""
        match test.name:
            case "allof" | "anyof":
                parts = [part for inner in test.tests if (part := self.condition(inner))]
                word = " AND " if test.name == "allof" else " OR "
                return parts[0] if len(parts) == 1 else f"({word.join(parts)})" if parts else ""
            case "not" if len(test.tests) == 1:
                return self._negated(test)
            case _:
                condition, problem = _simple(test, is_negated=self.is_negated)
                self.clauses.append(Clause(shown(test.source), shown(condition), problem))
                return condition

    def _negated(self, test: Node) -> str:
        """Translate a ``not``, as a whole or not at all: half of it would mean something else."""
        inner = Translation(is_negated=True)
        condition = inner.condition(test.tests[0])
        if condition and not any(clause.problem for clause in inner.clauses):
            text = f"NOT ({condition})"
            self.clauses.append(Clause(shown(test.source), shown(text)))
            return text
        reasons = [clause.problem for clause in inner.clauses if clause.problem]
        self.clauses.append(Clause(shown(test.source), "", reasons[0]))
        return ""


def _simple(test: Node, *, is_negated: bool) -> tuple[str, str]:
    """Return the condition of a test without tests in it, or why there is none.

    Where it ``is_negated`` a header that is not there compares as an empty one: NOT of NULL would
    be NULL.
    """
    match test.name, test.arguments:
        case "true", ():
            return "TRUE", ""
        case "size", (":over" | ":under" as side, int(size)):
            return f"m.size {'>' if side == ':over' else '<'} {size}", ""
        case "exists", (tuple(names),):
            return _exists(names)
        case "header" | "address" | "body", _:
            return _compared(test, is_negated=is_negated)
    return "", f"Not translated: Tapestry has nothing like the test “{test.name}”."


def _exists(names: tuple[str, ...]) -> tuple[str, str]:
    columns = {"in-reply-to": "m.inreplyto", "list-id": "m.list", "subject": "m.subject"}
    unknown = [name for name in names if name.lower() not in columns]
    if unknown:
        return "", _unkept(unknown[0])
    return " AND ".join(f"{columns[name.lower()]} IS NOT NULL" for name in names), ""


def _compared(test: Node, *, is_negated: bool) -> tuple[str, str]:
    arguments = list(test.arguments)
    if ":comparator" in arguments:
        at = arguments.index(":comparator")
        comparator = arguments[at + 1] if at + 1 < len(arguments) else ()
        if comparator not in _COMPARATORS:
            return "", "Not translated: here texts are compared without regard to case."
        del arguments[at : at + 2]
    tags = [argument for argument in arguments if isinstance(argument, str)]
    lists = [argument for argument in arguments if isinstance(argument, tuple)]
    strange = [tag for tag in tags if tag not in _KNOWN_TAGS[test.name]]
    if strange:
        return "", f"Not translated: Tapestry has nothing like “{strange[0]}”."
    if len(lists) != (1 if test.name == "body" else 2) or len(lists) + len(tags) != len(arguments):
        return "", f"Not translated: this is not how the test “{test.name}” is written."
    match_type = next((tag for tag in tags if tag in _MATCHES), ":is")
    headers = ("body",) if test.name == "body" else tuple(name.lower() for name in lists[0])
    alternatives: list[str] = []
    for header in headers:
        if test.name == "body":
            columns: tuple[str, ...] = ("m.body",)
        elif test.name == "address":
            columns = (ADDRESSES[header],) if header in ADDRESSES else ()
        else:
            columns = HEADERS.get(header, ())
        if not columns:
            return "", _unkept(header)
        if is_negated:
            columns = tuple(_never_null(column) for column in columns)
        for value in lists[-1]:
            plain = value.strip("<> ") if header in _BRACKETED else value
            pattern = _in_address(_pattern(match_type, plain), tags)
            alternatives += [f"{column} LIKE {quote(pattern)}" for column in columns]
    if not alternatives:
        return "", f"Not translated: “{test.name}” is given nothing to look for."
    return alternatives[0] if len(alternatives) == 1 else f"({' OR '.join(alternatives)})", ""


def _never_null(column: str) -> str:
    return column if column in _SETS else f"coalesce({column}, '')"


def _unkept(header: str) -> str:
    return f"Not translated: Tapestry does not keep the header {shown(header)[:80]}."


def _pattern(match_type: str, value: str) -> str:
    r"""Return the pattern of LIKE for a value.

    >>> _pattern(":contains", "50%"), _pattern(":matches", "a*b?\\*")
    ('%50\\%%', 'a%b_*')
    """
    if match_type != ":matches":
        escaped = re.sub(r"([%_\\])", r"\\\1", value)
        return f"%{escaped}%" if match_type == ":contains" else escaped
    pieces = re.findall(r"\\.|.", value, re.DOTALL)
    signs = {"*": "%", "?": "_", "%": r"\%", "_": r"\_", "\\": r"\\", "\\\\": r"\\"}
    return "".join(signs.get(piece, piece[-1]) for piece in pieces)


def _in_address(pattern: str, tags: list[str]) -> str:
    if ":domain" in tags:
        return f"%@{pattern}"
    return f"{pattern}@%" if ":localpart" in tags else pattern
