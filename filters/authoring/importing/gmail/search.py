"""Gmail's search language to a tree: words, operators, and how they are joined.

``from:mary subject:(lunch OR dinner) -draft``: terms next to each other must all hold, OR (or a
bar) binds closer than that, a group in braces is of alternatives, and what is after an operator
in parentheses is all that operator's.  AND, OR and NOT are words of it in capitals alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TypeAlias

DEEPEST = 16
"""Levels of parentheses, braces and signs."""

MOST_TERMS = 200
"""Words, groups and signs of a search; a filter cannot have many more alternatives."""

PEOPLE = ("from", "to", "cc", "bcc", "deliveredto")
OPERATORS = (
    *(*PEOPLE, "subject", "list", "has", "filename", "larger", "smaller", "size"),
    *("older_than", "newer_than", "after", "before", "newer", "older"),
    *("category", "label", "is", "in", "rfc822msgid"),
)
"""What Gmail knows before a colon; with another word before it, the whole is searched for."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word, or what stands in quotes, and the operator that it belongs to, if any."""

    operator: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Group:
    """Any number of parts joined by ``word``, ``and`` or ``or``; without any it says nothing."""

    word: str
    parts: tuple[Search, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Negation:
    """What does not hold of the messages that are looked for."""

    part: Search
    source: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is understood, but has no counterpart in a filter: ``reason`` may say why."""

    source: str
    reason: str = ""


Search: TypeAlias = Term | Group | Negation | Unknown


class MisreadSearchError(ValueError):
    """A text that is no search; the message says why in a clause."""


def parse_search(text: str, operator: str = "", *, is_any: bool = False) -> tuple[Search, ...]:
    """Return what must hold of a message, part by part; raises MisreadSearchError.

    ``operator``: that to which all of the text belongs.  ``is_any``: the parts are alternatives,
    as if they stood in braces.

    >>> [part.source for part in parse_search("from:mary lunch OR dinner -(draft copy)")]
    ['from:mary', 'lunch OR dinner', '-(draft copy)']
    """
    parser = _Parser(text)
    parts = parser.alternatives(operator, "") if is_any else parser.parts(operator, "")
    if parser.at < len(text):
        raise MisreadSearchError("its parentheses do not match")
    return parts


_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r'"([^"]*)(?:"|\Z)|“([^”]*)(?:”|\Z)')
_OPERATOR = re.compile(rf"({'|'.join(OPERATORS)}):\s*", re.IGNORECASE)
_SIGN = re.compile(r"-+(?=[^\s-])|NOT(?=[\s({\"])\s*")
_JOINER = re.compile(r"(?:AND(?![^\s(){}|\"])|(OR(?![^\s(){}|\"])|\|))\s*")
_WORD = re.compile(r"[^\s(){}|\"“”]+")
_MAILBOX = re.compile(
    r"(?:\"[^\"]*+\"|[^\s(){}|<>\"“”-][^\s(){}|<>\"“”]*+|\s++)*+<([^\s<>@]++@[^\s<>]++)>"
)
_CAPITALS = re.compile(r"(?:\A|\s)(?:AND|OR|NOT|AROUND)\s")
_AROUND = re.compile(r"AROUND(?:\s+[0-9]+)?(?![^\s(){}|\"])\s*")
_CLOSING = {"(": ")", "{": "}"}


@dataclass(slots=True)
class _Parser:
    text: str
    at: int = 0
    end: int = 0
    depth: int = 0
    count: int = 0

    def parts(self, operator: str, closing: str) -> tuple[Search, ...]:
        """Read what must all hold, up to a sign that closes it."""
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

    def alternatives(self, operator: str, closing: str) -> tuple[Search, ...]:
        """Read what stands in braces: one group of which some part must hold."""
        begin, parts, has_and = self.at, [], False
        while not self._is_end(closing):
            parts.append(self._unit(operator))
            has_and |= self._joiner() == "and"
        if has_and:  # which of the two is meant, Gmail does not say
            return (Unknown(self._source(begin)),)
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
        joiner = self._skip(_JOINER)
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
        if self._skip(_AROUND):
            if self.at < len(self.text) and self.text[self.at] not in ")}":
                self._unit(operator)
            part = Unknown(self._source(begin), "a filter cannot say how near words are")
        else:
            self.at = end
        self.end = self.at
        self.depth -= 1
        return part

    def _one(self, operator: str) -> Search:
        begin = self.at
        while self._joiner() is not None:
            pass
        if self._skip(_SIGN):
            if self.at == len(self.text) or self.text[self.at] in ")}":
                return Group("and", (), self._source(begin))
            negated = self._unit(operator)
            return Negation(negated, self._source(begin))
        named = self._skip(_OPERATOR)
        if named:
            return self._named(named[1].lower(), operator, begin)
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
            return Unknown(self._source(begin))
        value = self._unit(name)
        source = self._source(begin)
        if operator not in ("", name):
            return Unknown(source)
        return replace(value, source=source)

    def _term(self, operator: str, begin: int) -> Search:
        mailbox = _MAILBOX.match(self.text, self.at) if operator in PEOPLE else None
        if mailbox and not _CAPITALS.search(mailbox[0]):
            self.at = mailbox.end()
            return Term(operator, mailbox[1], self._source(begin))
        quoted = self._skip(_QUOTED)
        if quoted:
            return Term(operator, quoted[1] or quoted[2] or "", self._source(begin))
        word = self._skip(_WORD)
        if word is None:  # a quote that closes nothing
            self.at = min(self.at + 1, len(self.text))
            return Group("and", (), self._source(begin))
        return Term(operator, word[0], self._source(begin))

    def _group(self, word: str, parts: list[Search], begin: int) -> Search:
        source = self.text[begin : self.end].strip()
        return parts[0] if len(parts) == 1 else Group(word, tuple(parts), source)

    def _source(self, begin: int) -> str:
        return self.text[begin : self.at].strip()

    def _skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found
