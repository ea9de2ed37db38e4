"""Tests of Sieve to conditions in TQL: of the headers that Tapestry keeps, exactly.

``:contains``, ``:is`` and ``:matches`` ignore case (RFC 5228 section 2.7.3), as LIKE does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from filters.authoring.importing.entries import Clause, shown
from filters.authoring.importing.sieve.grammar import Argument, Node
from filters.authoring.importing.sieve.headers import (
    LAST_REFERENCE,
    Columns,
    Comparison,
    Pattern,
    compare,
    is_kept,
    pattern_of,
)
from tapestry.query.limits import MAX_BYTES

ADDRESSES = {"from": "sender", "to": "to", "cc": "cc"}

_MATCHES = (":is", ":contains", ":matches")
_KNOWN_TAGS = {
    "header": {*_MATCHES, ":comparator"},
    "address": {*_MATCHES, ":comparator", ":all", ":localpart", ":domain"},
    "body": {*_MATCHES, ":comparator", ":text"},
}
_USUAL: Argument = ("i;ascii-casemap",)
_COMPARATORS = {_USUAL, ("i;unicode-casemap",)}
_VARIABLE = re.compile(r"\$\{[^}]*\}")

_CONDITION = len("coalesce(m.sender_name, '') LIKE '' OR ")
"""Characters that a condition has at most beside its pattern."""

ONLY_TEXT = "Approximately: Tapestry compares the text that a reader sees, of all parts together."

NO_NUMBERS = "a header is compared as a text, and not as a number."

TOO_LONG = "Not translated: written out, this would be longer than the 64 KiB of a filter."


@dataclass(slots=True)
class Translation:
    """Collects the clauses of a rule as its tests are translated.

    ``has_variables``: ``${name}`` is none of the text, as the script has variables (RFC 5229) or
    encoded characters.
    """

    has_variables: bool = False
    clauses: list[Clause] = field(default_factory=list)
    is_negated: bool = False

    def condition(self, test: Node) -> str:
        """Return a test as a condition, empty if nothing of it can be translated."""
        match test.name:
            case "allof" | "anyof" if test.tests:
                parts = [part for inner in test.tests if (part := self.condition(inner))]
                if sum(map(len, parts)) > MAX_BYTES:
                    self.clauses.append(Clause(shown(test.source), problem=TOO_LONG))
                    return ""
                word = " AND " if test.name == "allof" else " OR "
                return parts[0] if len(parts) == 1 else f"({word.join(parts)})" if parts else ""
            case "not" if len(test.tests) == 1:
                return self._negated(test)
            case _:
                simple = self._simple(test)
                text = shown(simple.condition)
                self.clauses.append(Clause(shown(test.source), text, simple.problem))
                return simple.condition

    def _negated(self, test: Node) -> str:
        """Translate a ``not``, as a whole or not at all: half of it would mean something else."""
        inner = Translation(self.has_variables, is_negated=True)
        condition = inner.condition(test.tests[0])
        reasons = [clause.problem for clause in inner.clauses if clause.problem]
        if condition and not reasons:
            text = f"NOT ({condition})"
            self.clauses.append(Clause(shown(test.source), shown(text)))
            return text
        reason = reasons[0].replace("Approximately", "Not translated")
        self.clauses.append(Clause(shown(test.source), "", reason))
        return ""

    def _simple(self, test: Node) -> Comparison:
        """Return the condition of a test without tests in it, or why there is none."""
        strings = [value for given in test.arguments if isinstance(given, tuple) for value in given]
        variable = next(filter(None, map(_VARIABLE.search, strings)), None)
        if self.has_variables and variable:
            return _not_translated(f"Tapestry has no variables such as “{shown(variable[0])}”.")
        match test.name, test.arguments:
            case "true", ():
                return Comparison("TRUE")
            case "false", ():
                return Comparison("FALSE")
            case "size", (":over" | ":under" as side, int(size)):
                return Comparison(f"m.size {'>' if side == ':over' else '<'} {size}")
            case "exists", (tuple(names),):
                return _exists(names)
            case "header" | "address" | "body", _:
                return _compared(test, Columns(never_null=self.is_negated))
            case "allof" | "anyof" | "not", _:
                return _miswritten(test)
        return _not_translated(f"Tapestry has nothing like the test “{shown(test.name)}”.")


def _not_translated(reason: str) -> Comparison:
    return Comparison("", f"Not translated: {reason}")


def _miswritten(test: Node) -> Comparison:
    return _not_translated(f"this is not how the test “{test.name}” is written.")


def _unkept(header: str) -> Comparison:
    return _not_translated(f"Tapestry does not keep the header {shown(header)[:80]}.")


def _is_kept(test: Node, header: str) -> bool:
    return header in ADDRESSES if test.name == "address" else is_kept(header)


def _exists(names: tuple[str, ...]) -> Comparison:
    columns = {"in-reply-to": "m.inreplyto", "list-id": "m.list", "subject": "m.subject"}
    kept = dict.fromkeys(name.lower() for name in names)
    unknown = [name for name in kept if name not in columns]
    if unknown:
        return _unkept(unknown[0])
    problem = LAST_REFERENCE if "in-reply-to" in kept else ""
    return Comparison(" AND ".join(f"{columns[name]} IS NOT NULL" for name in kept), problem)


def _compared(test: Node, columns: Columns) -> Comparison:
    arguments, comparator = list(test.arguments), _USUAL
    if ":comparator" in arguments:
        at = arguments.index(":comparator")
        comparator = arguments[at + 1] if at + 1 < len(arguments) else ()
        del arguments[at : at + 2]
    tags = [argument for argument in arguments if isinstance(argument, str)]
    lists = [argument for argument in arguments if isinstance(argument, tuple)]
    named = lists[-2] if len(lists) > 1 and test.name != "body" else ()
    headers = list(dict.fromkeys(map(str.lower, named)))
    if unkept := [name for name in headers if not _is_kept(test, name)]:
        return _unkept(unkept[0])
    if comparator == ("i;octet",):
        return _not_translated("here texts are compared without regard to case.")
    if comparator not in _COMPARATORS:
        return _not_translated(NO_NUMBERS)
    strange = [tag for tag in tags if tag not in _KNOWN_TAGS[test.name]]
    if strange:
        return _not_translated(f"Tapestry has nothing like “{shown(strange[0])}”.")
    if len(lists) != (1 if test.name == "body" else 2) or len(lists) + len(tags) != len(arguments):
        return _miswritten(test)
    values = list(dict.fromkeys(lists[-1]))
    length = sum(len(value) + _CONDITION for value in values)
    if length * max(1, len(headers)) > MAX_BYTES:
        return Comparison("", TOO_LONG)
    match_type = next((tag for tag in tags if tag in _MATCHES), ":is")
    patterns = [pattern_of(match_type, value) for value in values]
    if test.name == "body":
        return _any_of(_in_body(pattern, columns) for pattern in patterns)
    return _any_of(
        _in_header(test, header, pattern, tags, columns)
        for header in headers
        for pattern in patterns
    )


def _in_body(pattern: Pattern, columns: Columns) -> Comparison:
    """Compare the text of all parts together, without markup and the blanks at its ends."""
    is_open = pattern[:1] == pattern[-1:] == ("%",)
    has_word = bool("".join(pattern).strip("% "))
    return Comparison(columns.like("body", pattern), "" if is_open and has_word else ONLY_TEXT)


def _in_header(
    test: Node, header: str, pattern: Pattern, tags: list[str], columns: Columns
) -> Comparison:
    if test.name == "header":
        return compare(header, pattern, columns)
    return Comparison(columns.like(ADDRESSES[header], _in_address(pattern, tags)))


def _in_address(pattern: Pattern, tags: list[str]) -> Pattern:
    if ":domain" in tags:
        return ("%", "@", *pattern)
    return (*pattern, "@", "%") if ":localpart" in tags else pattern


def _any_of(comparisons: Iterable[Comparison]) -> Comparison:
    """Join comparisons with OR, if all of them can be said."""
    conditions: dict[str, None] = {}
    problem = ""
    for comparison in comparisons:
        if not comparison.condition:
            return comparison
        conditions[comparison.condition] = None
        problem = problem or comparison.problem
    if not conditions:
        return _not_translated("this test is given nothing to look for.")
    text = " OR ".join(conditions)
    return Comparison(text if len(conditions) == 1 else f"({text})", problem)
