"""The search language of mail programs to a tree: words, operators, and how they are joined.

``from:mary subject:(lunch OR dinner) -draft``: terms next to each other must all hold, OR (or a
bar) binds closer than that, a group in braces is of alternatives, and what is after an operator
in parentheses is all that operator's.  A dialect says which operators there are, and how AND, OR
and NOT are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from tapestry.core.errors import Span

DEEPEST = 16
"""Levels of parentheses, braces and signs."""

MOST_TERMS = 200
"""Words, groups and signs of a search; a filter cannot have many more alternatives."""

NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Term:
    """A word, or what stands in quotes, and the operator that it belongs to, if any."""

    operator: str
    value: str
    source: str
    span: Span = NOWHERE
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Any number of parts joined by ``word``, ``and`` or ``or``; without any it says nothing."""

    word: str
    parts: tuple[Search, ...]
    source: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Negation:
    """A part that does not hold of the messages that are looked for."""

    part: Search
    source: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part that has no counterpart in a filter: ``reason`` may say why."""

    source: str
    span: Span = NOWHERE
    reason: str = ""


Search: TypeAlias = Term | Group | Negation | Unknown


class MisreadSearchError(ValueError):
    """A text that is no search; the message says why in a clause."""


@dataclass(frozen=True)
class Dialect:
    """The way in which a program writes its searches.

    ``operator``: the group that matched is a name, what follows its value.  ``joiner``: its first
    group is an OR.  ``around`` says how near two words stand.  ``people`` are operators whose
    value may be a mailbox, ``Mary <mary@x.org>``.  ``is_or_closer``: OR binds closer than what
    stands side by side.  ``has_patterns``: a value may be a regular expression between slashes.
    """

    operator: re.Pattern[str]
    sign: re.Pattern[str]
    joiner: re.Pattern[str]
    around: re.Pattern[str]
    people: frozenset[str]
    is_or_closer: bool = False
    has_patterns: bool = False


def before_colon(names: Iterable[str]) -> str:
    """Return the regular expression of names of operators, the longest first."""
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def parse_search(
    text: str, dialect: Dialect, operator: str = "", *, is_any: bool = False
) -> tuple[Search, ...]:
    """Return what must hold of a message, part by part; raises MisreadSearchError.

    ``operator``: that to which all of the text belongs.  ``is_any``: the parts are alternatives,
    as if they stood in braces.
    """
    parser = _Parser(text, dialect)
    parts = parser.alternatives(operator, "") if is_any else parser.parts(operator, "")
    if parser.at < len(text):
        raise MisreadSearchError("its parentheses do not match")
    return parts


_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r'"([^"]*)(?:"|\Z)|“([^”]*)(?:”|\Z)')
_WORD = re.compile(r"[^\s(){}|\"“”]+")
_PATTERN = re.compile(r"/(?:[^/\\]|\\.)+/")
_MAILBOX = re.compile(
    r"(?:\"[^\"]*+\"|[^\s(){}|<>\"“”-][^\s(){}|<>\"“”]*+|\s++)*+<([^\s<>@]++@[^\s<>]++)>"
)
_LISTED = re.compile(r"\s*[\w@.+'’-]+(?:,|\s*[)}]|\s*\Z|\s+[-!]?\w+:)")
"""A name after a comma, if it stands alone there."""

_CAPITALS = re.compile(r"(?:\A|\s)(?:AND|OR|NOT|AROUND)\s")
_CLOSING = {"(": ")", "{": "}"}


def _left_out(parts: list[Search]) -> list[Search]:
    """Take from the last alternative what has a minus after another word: nothing may have it.

    ``cake OR pie -recipe``
    """
    without: list[Search] = [
        part for part in parts[1:] if isinstance(part, Negation) and part.source[0] == "-"
    ]
    parts[:] = [part for part in parts if part not in without]
    return without


def _are_of_one_field(sums: list[list[Search]]) -> bool:
    """Tell whether each OR stands between terms of one field, and something beside them.

    ``from:mary OR from:joe AND subject:lunch`` is of either of them, about lunch, and
    ``lunch OR dinner from:mary`` from her.
    """
    has_operators = any(isinstance(part, Term) and part.operator for sum_ in sums for part in sum_)
    around = [(one[-1], other[0]) for one, other in pairwise(sums)]
    return any(len(sum_) > 1 for sum_ in sums) and all(
        isinstance(one, Term)
        and isinstance(other, Term)
        and one.operator == other.operator
        and (one.operator or has_operators)
        for one, other in around
    )


@dataclass(slots=True)
class _Parser:
    text: str
    dialect: Dialect
    at: int = 0
    end: int = 0
    depth: int = 0
    count: int = 0

    def parts(self, operator: str, closing: str) -> tuple[Search, ...]:
        """Read what must all hold, up to a sign that closes it."""
        if not self.dialect.is_or_closer:
            return self._sums(operator, closing)
        parts: list[Search] = []
        while not self._is_end(closing):
            begin = self.at
            chain = [self._unit(operator)]
            while (joiner := self._joiner()) is not None:
                if self._is_end(closing):
                    break
                if joiner == "or":
                    chain.append(self._unit(operator))
                else:
                    parts.append(self._group("or", chain, begin))
                    begin, chain = self.at, [self._unit(operator)]
            parts.append(self._group("or", chain, begin))
        return tuple(parts)

    def _sums(self, operator: str, closing: str) -> tuple[Search, ...]:
        """Read alternatives of what must all hold."""
        begin, sums = self.at, [(self.at, list[Search]())]
        while not self._is_end(closing):
            sums[-1][1].append(self._unit(operator))
            if self._joiner() == "or" and not self._is_end(closing):
                sums.append((self.at, []))
        if len(sums) == 1:
            return tuple(sums[0][1])
        if _are_of_one_field([sum_ for _, sum_ in sums]):
            return self._chains(sums)
        without = _left_out(sums[-1][1])
        any_of = self._group("or", [self._group("and", sum_, at) for at, sum_ in sums], begin)
        return (any_of, *without)

    def _chains(self, sums: list[tuple[int, list[Search]]]) -> tuple[Search, ...]:
        """Return what must all hold where each OR stands between terms of one field."""
        parts: list[Search] = []
        chain: list[Search] = []
        for _, sum_ in sums:
            chain.append(sum_[0])
            if len(sum_) > 1:
                parts += [self._group("or", chain, chain[0].span.start), *sum_[1:-1]]
                chain = [sum_[-1]]
        return (*parts, self._group("or", chain, chain[0].span.start))

    def alternatives(self, operator: str, closing: str) -> tuple[Search, ...]:
        """Read what stands in braces: one group of which some part must hold."""
        begin, parts, has_and = self.at, [], False
        while not self._is_end(closing):
            parts.append(self._unit(operator))
            has_and |= self._joiner() == "and"
        if has_and:  # which of the two is meant, Gmail does not say
            return (Unknown(*self._source(begin)),)
        return (self._group("or", parts, begin),)

    def _is_end(self, closing: str) -> bool:
        """Return whether the text or the group ends here; joiners before that say nothing."""
        self._skip(_SPACE)
        while self._joiner() is not None:
            pass
        if self.at == len(self.text):
            if closing:
                raise MisreadSearchError("its parentheses do not match")
            return True
        if self.text[self.at] in ")}":
            if self.text[self.at] != closing:
                raise MisreadSearchError("its parentheses do not match")
            return True
        return False

    def _joiner(self) -> str | None:
        self._skip(_SPACE)
        joiner = self._skip(self.dialect.joiner)
        return None if joiner is None else "or" if joiner[1] else "and"

    def _unit(self, operator: str) -> Search:
        """Read one part, and another that is to be around it."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise MisreadSearchError(f"it is nested deeper than {DEEPEST} levels")
        self.count += 1
        if self.count > MOST_TERMS:
            raise MisreadSearchError(f"it has more than {MOST_TERMS} terms")
        begin = self.at
        part = self._one(operator)
        end = self.at
        self._skip(_SPACE)
        if self._skip(self.dialect.around):
            if self.at < len(self.text) and self.text[self.at] not in ")}":
                self._unit(operator)
            part = Unknown(*self._source(begin), "a filter cannot say how near words are")
        else:
            self.at = end
        self.end = self.at
        self.depth -= 1
        return part

    def _one(self, operator: str) -> Search:
        begin = self.at
        while self._joiner() is not None:
            pass
        if self._skip(self.dialect.sign):
            if self.at == len(self.text) or self.text[self.at] in ")}":
                return Group("and", (), *self._source(begin))
            negated = self._unit(operator)
            return Negation(negated, *self._source(begin))
        named = self._skip(self.dialect.operator)
        if named:
            name = named[named.lastindex or 0]
            return self._named(name if name[0] == "~" else name.casefold(), operator, begin)
        opening = self.text[self.at] if self.at < len(self.text) else ""
        if opening in ("(", "{"):
            self.at += 1
            read = self.parts if opening == "(" else self.alternatives
            parts = read(operator, _CLOSING[opening])
            self.at += 1
            self.end = self.at
            return self._group("and", list(parts), begin)
        return self._term(operator, begin)

    def _named(self, name: str, operator: str, begin: int) -> Search:
        """Read what belongs to an operator."""
        if self.at == len(self.text) or self.text[self.at] in ")}|":
            return Unknown(*self._source(begin))
        value = self._unit(name)
        while isinstance(value, Term) and self._goes_on(value):
            more = self._unit(name)
            if isinstance(more, Term):
                value = replace(value, value=f"{value.value}{more.value}")
        source, span = self._source(begin)
        if operator not in ("", name):
            return Unknown(source, span)
        return replace(value, source=source, span=span)

    def _goes_on(self, term: Term) -> bool:
        """Return whether a list of people goes on, ``from: bob, alice``."""
        is_listed = term.operator in self.dialect.people and term.value.endswith(",")
        return is_listed and _LISTED.match(self.text, self.at) is not None

    def _term(self, operator: str, begin: int) -> Search:
        mailbox = _MAILBOX.match(self.text, self.at) if operator in self.dialect.people else None
        if mailbox and not _CAPITALS.search(mailbox[0]):
            self.at = mailbox.end()
            return Term(operator, mailbox[1], *self._source(begin))
        quoted = self._skip(_QUOTED)
        if quoted:
            value = quoted[1] or quoted[2] or ""
            return Term(operator, value, *self._source(begin), is_quoted=True)
        word = self._skip(_PATTERN) if operator and self.dialect.has_patterns else None
        word = word or self._skip(_WORD)
        if word is None:  # a quote that closes nothing
            self.at = min(self.at + 1, len(self.text))
            return Group("and", (), *self._source(begin))
        return Term(operator, word[0], *self._source(begin))

    def _group(self, word: str, parts: list[Search], begin: int) -> Search:
        if len(parts) == 1:
            return parts[0]
        source = self.text[begin : self.end].strip()
        return Group(word, tuple(parts), source, Span(begin, max(begin, self.end)))

    def _source(self, begin: int) -> tuple[str, Span]:
        """Return the text since ``begin``, and its place."""
        return self.text[begin : self.at].strip(), Span(begin, self.at)

    def _skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found
