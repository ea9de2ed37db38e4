"""What a header says, as Sieve compares it, to conditions on the columns that keep parts of it.

Sieve compares the whole of a header, ``Mary Jones <mary@x.org>``; Tapestry keeps of it names and
addresses, each by itself.  A pattern is cut where the address begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tapestry.core.schema import COLUMNS, MESSAGES, Type
from tapestry.query.tree.printer import quote

Pattern = tuple[str, ...]
"""A pattern of LIKE in pieces: ``%``, ``_``, and characters, escaped where they need it."""

_ANY: Pattern = ("%",)
_SIGNS = {"*": "%", "?": "_"}
_ESCAPED = re.compile(r"[%_\\]")
_AROUND_NAME = (" ", '"')

ONLY_NAME_AND_ADDRESS = (
    "Approximately: of a sender, Tapestry keeps name and address, not the quotes and brackets."
)
ONLY_EACH = (
    "Approximately: Tapestry compares each name and address by itself, not the whole header."
)
ONLY_IDENTIFIER = "Approximately: Tapestry keeps the identifier of a list, but not its description."
NO_DESCRIPTION = "Not translated: Tapestry keeps the identifier of a list, not its description."
ONLY_GROUPS = "Approximately: Tapestry compares each newsgroup by itself, and not the whole header."
ONLY_IDENTIFIERS = (
    "Approximately: Tapestry compares each identifier by itself, and not the whole header."
)
LAST_REFERENCE = (
    "Approximately: where a message has no In-Reply-To, Tapestry takes the last of its References."
)
NEVER_SO = "Not translated: no header that Tapestry keeps can look like this."


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition, and a problem where it finds nearly the same or cannot be said at all."""

    condition: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Columns:
    """Names columns in a condition; ``never_null``: it is false of a header that is not there.

    NOT of NULL would be NULL.
    """

    never_null: bool

    def like(self, column: str, pattern: Pattern) -> str:
        r"""Return the test that a column matches.

        >>> Columns(never_null=True).like("subject", ("%", "a", "\\%"))
        "coalesce(m.subject, '') LIKE '%a\\%'"
        """
        is_set = COLUMNS[MESSAGES][column] is Type.SET
        test = f"LIKE {quote(''.join(pattern))}"
        if is_set or not self.never_null:
            return f"m.{column} {test}"
        if set(pattern) <= {"%"}:  # an empty header is so, one that is not there is not
            return f"(m.{column} IS NOT NULL AND m.{column} {test})"
        return f"coalesce(m.{column}, '') {test}"


def pattern_of(match_type: str, value: str) -> Pattern:
    r"""Return the pattern of LIKE for a value.

    >>> "".join(pattern_of(":contains", "50%")), "".join(pattern_of(":matches", "a*b?\\*"))
    ('%50\\%%', 'a%b_*')
    """
    if match_type != ":matches":
        literal = tuple(_ESCAPED.sub(r"\\\g<0>", character) for character in value)
        return (*_ANY, *literal, *_ANY) if match_type == ":contains" else literal
    pieces = re.findall(r"\\.|.", value, re.DOTALL)
    return tuple(_SIGNS.get(piece) or _ESCAPED.sub(r"\\\g<0>", piece[-1]) for piece in pieces)


def is_kept(header: str) -> bool:
    """Return whether Tapestry keeps a header, so that it can be compared."""
    return header in _HEADERS


def compare(header: str, pattern: Pattern, columns: Columns) -> Comparison:
    """Return what it means that a header matches which Tapestry keeps."""
    return _HEADERS[header](pattern, columns)


def _plain(column: str) -> Callable[[Pattern, Columns], Comparison]:
    return lambda pattern, columns: Comparison(columns.like(column, pattern))


def _sender(pattern: Pattern, columns: Columns) -> Comparison:
    """Compare the header From: ``Name <address>``, or an address alone."""
    cut = _cut(pattern)
    unnamed = "coalesce(m.sender_name, '') = ''"
    is_open = pattern[:1] == pattern[-1:] == _ANY
    ends = {*pattern[1:2], *pattern[-2:-1]}
    problem = (
        "" if is_open and cut is None and ends.isdisjoint(_AROUND_NAME) else ONLY_NAME_AND_ADDRESS
    )
    if cut is not None:
        name, address = cut
        if address is None:
            return Comparison("", NEVER_SO)
        is_address = columns.like("sender", address)
        if name == _ANY:
            return Comparison(is_address, problem)
        is_name = columns.like("sender_name", name) if name else unnamed
        return Comparison(f"({is_name} AND {is_address})", problem)
    is_address = columns.like("sender", pattern)
    is_name = columns.like("sender_name", pattern)
    if pattern[-1:] != _ANY:  # it ends with the address, and not with a bracket after it
        return Comparison(f"({is_address} AND {unnamed})", problem)
    if pattern[:1] != _ANY:
        return Comparison(f"({is_name} OR {is_address} AND {unnamed})", problem)
    return Comparison(f"({is_address} OR {is_name})", problem)


def _is_within(pattern: Pattern) -> bool:
    """Return whether a pattern that a header matches is matched by one of its elements too."""
    return pattern[:1] == pattern[-1:] == _ANY and "%" not in pattern[1:-1] and " " not in pattern


def _recipients(column: str) -> Callable[[Pattern, Columns], Comparison]:
    """Compare a header of several mailboxes: a pattern may go from one to the next."""
    names = f"{column}_names"

    def found(pattern: Pattern, columns: Columns) -> Comparison:
        cut = _cut(pattern)
        if cut is not None:
            name, address = cut
            if address is None:
                return Comparison("", NEVER_SO)
            is_address = columns.like(column, address)
            if name in (_ANY, ()):
                return Comparison(is_address, ONLY_EACH)
            return Comparison(f"({columns.like(names, name)} AND {is_address})", ONLY_EACH)
        inner = pattern[1:-1]
        is_open = pattern[:1] == pattern[-1:] == _ANY and inner and not {"%", ","} & {*inner}
        in_one = is_open and {inner[0], inner[-1]}.isdisjoint(_AROUND_NAME)
        is_name = columns.like(names, pattern)
        is_either = f"({columns.like(column, pattern)} OR {is_name})"
        return Comparison(is_name if " " in pattern else is_either, "" if in_one else ONLY_EACH)

    return found


def _list_id(pattern: Pattern, columns: Columns) -> Comparison:
    """Compare the header List-Id: ``Description <identifier>``."""
    cut = _cut(pattern)
    if cut is not None:
        name, identifier = cut
        if identifier is None:
            return Comparison("", NEVER_SO)
        problem = "" if name in (_ANY, ()) else NO_DESCRIPTION
        return Comparison("" if problem else columns.like("list", identifier), problem)
    if " " in pattern:
        return Comparison("", NO_DESCRIPTION)
    is_part = pattern[:1] == pattern[-1:] == _ANY and "." in pattern
    return Comparison(columns.like("list", pattern), "" if is_part else ONLY_IDENTIFIER)


def _identifiers(column: str, nearly: str = "") -> Callable[[Pattern, Columns], Comparison]:
    """Compare a header of identifiers in brackets; ``nearly`` is why that is never exact."""

    def found(pattern: Pattern, columns: Columns) -> Comparison:
        cut = _cut(pattern)
        is_only_one = column == "msgid" and cut is not None
        problem = nearly or ("" if is_only_one or _is_within(pattern) else ONLY_IDENTIFIERS)
        if cut is None:
            return Comparison(columns.like(column, pattern), problem)
        before, identifier = cut
        if identifier is None or before not in (_ANY, ()):
            return Comparison("", NEVER_SO)
        return Comparison(columns.like(column, identifier), problem)

    return found


def _newsgroups(pattern: Pattern, columns: Columns) -> Comparison:
    if "," in pattern or " " in pattern:
        return Comparison("", "Not translated: Tapestry compares each newsgroup by itself.")
    problem = "" if _is_within(pattern) else ONLY_GROUPS
    return Comparison(columns.like("newsgroups", pattern), problem)


def _cut(pattern: Pattern) -> tuple[Pattern, Pattern | None] | None:
    """Cut a pattern into what is before and what is in brackets, None if it has no bracket.

    What is in brackets is None if it does not end with the header, as it always does.
    """
    before, inside = _ANY, pattern
    if "<" in pattern:
        at = pattern.index("<")
        before, inside = _stripped(pattern[:at]), pattern[at + 1 :]
    elif ">" not in pattern or pattern[0] != "%":
        return None if ">" not in pattern else (_ANY, None)
    if ">" in inside:
        at = inside.index(">")
        return before, inside[:at] if inside[at + 1 :] in ((), _ANY) else None
    return before, inside if inside[-1:] == _ANY else None


def _stripped(name: Pattern) -> Pattern:
    """Return the pattern of a name without the quotes around it and the space after it."""
    begin, end = 0, len(name)
    while begin < end and name[begin] in _AROUND_NAME:
        begin += 1
    while begin < end and name[end - 1] in _AROUND_NAME:
        end -= 1
    return name[begin:end]


_HEADERS: Mapping[str, Callable[[Pattern, Columns], Comparison]] = {
    "subject": _plain("subject"),
    "from": _sender,
    "to": _recipients("to"),
    "cc": _recipients("cc"),
    "newsgroups": _newsgroups,
    "list-id": _list_id,
    "message-id": _identifiers("msgid"),
    "in-reply-to": _identifiers("inreplyto", LAST_REFERENCE),
    "references": _identifiers("references"),
}
"""How each header that Tapestry keeps is compared."""
