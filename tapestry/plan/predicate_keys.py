"""Which new rows concern a filter: the keys by which it is woken.

Of a million filters a window concerns few.  Every delta query of a disjunct is driven by rows of
one table; where a condition ties these rows, or the rows they lead to, to a constant (equal
to it, having its words, beginning or ending with its text), the delta query is asleep unless
some row has that key.

Law: if a delta query has a candidate in a window, one of its keys is among the tokens of the
rows that arrived in that window (or, ``offset`` microseconds before it).  The converse need
not hold: what is woken is run exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from tapestry.core.schema import INDEXED, MESSAGES, Type
from tapestry.plan.signature import Value
from tapestry.query.tree.nodes import (
    And,
    Binding,
    Column,
    Compare,
    Condition,
    Has,
    InList,
    Like,
    Literal,
    Or,
    Values,
)
from tapestry.query.tree.walk import equalities
from tapestry.rewrite.stages import DeltaQuery, IncrementalDisjunct

Kind = OneOf["always", "any", "is", "has", "starts", "ends"]

LONGEST = 64
"""Characters of a beginning or an end that are looked at."""

COMMON = {"kind": 9, "audience": 9, "source": 8, "body": 5, "subject": 4, "sender_name": 3}
"""Columns whose keys many rows share, and how much so; of the others a key has few rows."""

_TOKEN = re.compile(r"[a-z0-9]+|[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class KeyExtractor:
    """Where tokens come from: a column of the new rows of a table, or of those they lead to.

    ``hop`` is (a column of the new rows, another table, its column that equals that).  Kind
    ``any`` has the one token ``""`` if there is a row, ``always`` even if there is none.
    """

    table: str
    kind: Kind
    column: str = ""
    hop: tuple[str, str, str] | None = None

    @property
    def name(self) -> str:
        """Return the extractor as one word, which ``parse`` reads."""
        return " ".join([self.table, self.kind, self.column or "-", *(self.hop or ())])

    @classmethod
    def parse(cls, name: str) -> KeyExtractor:
        """Return the extractor of a name.

        >>> one = KeyExtractor("messages", "is", "sender", ("inreplyto", "messages", "msgid"))
        >>> KeyExtractor.parse(one.name) == one
        True
        """
        table, kind, column, *hop = name.split(" ")
        led = (hop[0], hop[1], hop[2]) if hop else None
        return cls(table, kind, "" if column == "-" else column, led)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class PredicateKey:
    """A token that wakes a filter, if a row with it came ``offset`` microseconds before."""

    extractor: str
    offset: int
    token: str


@dataclass(frozen=True, slots=True)
class _Choice:
    """One way to wake a delta query: by any of some conditions."""

    extractors: tuple[tuple[KeyExtractor, Literal | Values | None], ...]
    rank: int


def predicate_keys(
    disjunct: IncrementalDisjunct, constants: Mapping[int, Value]
) -> frozenset[PredicateKey]:
    """Return the keys of a disjunct's delta queries, its constants given by their slots."""
    found: set[PredicateKey] = set()
    for delta_query in disjunct.delta_queries:
        offset = _offset(delta_query, constants)
        for choice in _choices(delta_query):
            keys = [_keys(extractor, value, constants) for extractor, value in choice.extractors]
            if all(keys):
                found |= {
                    PredicateKey(extractor.name, offset, token)
                    for pairs in keys
                    for extractor, token in pairs
                }
                break
    return frozenset(found)


def tokenize(text: str) -> list[str]:
    """Return the parts of a text, at least as fine as its words.

    >>> tokenize("Re: naïve Bayes2")
    ['re', 'na', 'ï', 've', 'bayes2']
    """
    return _TOKEN.findall(fold_case(text))


def fold_case(text: str) -> str:
    """Return a text as LIKE and HAS compare it: without case."""
    return text.lower().replace("ς", "σ")


def _offset(delta_query: DeltaQuery, constants: Mapping[int, Value]) -> int:
    anchor = delta_query.event.anchor
    if anchor is None:
        return 0
    _, offset, slotted = anchor
    for sign, literal in slotted:
        value = _value(literal, constants)
        if isinstance(value, int):
            offset += sign * value
    return offset


def _choices(delta_query: DeltaQuery) -> list[_Choice]:
    """Return the ways to wake a delta query, the best first; the last is always open."""
    anchor = delta_query.event.anchor
    if anchor is None or anchor[0].name != "ts":
        return [_Choice(((KeyExtractor(MESSAGES, "always"), None),), 99)]
    driver = next(b for b in delta_query.bindings if b.var == anchor[0].var)
    places = {driver.var: KeyExtractor(driver.table, "any")}
    found = [_Choice(((places[driver.var], None),), 40)]
    for binding, hop in _hops(driver, delta_query.bindings, delta_query.plain):
        places[binding.var] = KeyExtractor(driver.table, "any", hop=hop)
        found.append(_Choice(((places[binding.var], None),), 30))
    for condition in delta_query.plain:
        found += _ways(condition, places)
    return sorted(found, key=lambda choice: choice.rank)


def _hops(
    driver: Binding, bindings: Sequence[Binding], plain: Sequence[Condition]
) -> Iterator[tuple[Binding, tuple[str, str, str]]]:
    """Yield the variables that the driver's rows lead to by an equality of looked-up columns."""
    for binding in bindings:
        for column, other in equalities(plain):
            tied = (column.var, other.var) == (binding.var, driver.var)
            scalar = column.var != other.var and other.type is not Type.SET
            if tied and scalar and column.name in INDEXED[binding.table]:
                yield binding, (other.name, binding.table, column.name)
                break


def _ways(condition: Condition, places: Mapping[str, KeyExtractor]) -> list[_Choice]:
    """Return the ways in which a condition can be a key."""
    match condition:
        case And(args=args):
            return [way for arg in args for way in _ways(arg, places)]
        case Or(args=args):
            best = [min(_ways(arg, places), key=lambda w: w.rank, default=None) for arg in args]
            some = [way for way in best if way is not None]
            if len(some) < len(args):
                return []
            extractors = tuple(extractor for way in some for extractor in way.extractors)
            return [_Choice(extractors, max(way.rank for way in some))]
        case Compare(op="=", left=Column() as column, right=Literal() as value):
            return _way(places, column, "is", value)
        case Compare(op="=", left=Literal() as value, right=Column() as column):
            return _way(places, column, "is", value)
        case InList(term=Column() as column, values=values):
            return _way(places, column, "is", values)
        case Has(term=Column() as column, words=Literal() as value):
            return _way(places, column, "has", value)
        case Like(term=Column() as column, pattern=Literal() as value):
            return _way(places, column, "starts", value)
    return []


def _way(
    places: Mapping[str, KeyExtractor], column: Column, kind: Kind, value: Literal | Values
) -> list[_Choice]:
    place = places.get(column.var)
    if place is None or column.type not in (Type.TEXT, Type.SET):
        return []
    rank = COMMON.get(column.name, 0) + (0 if kind == "is" else 1)
    extractor = replace(place, kind=kind, column=column.name)
    return [_Choice(((extractor, value),), 2 * rank + (place.hop is not None))]


def _value(literal: Literal | Values, constants: Mapping[int, Value]) -> Value | None:
    if literal.slot is not None:
        return constants[literal.slot]
    return literal.values if isinstance(literal, Values) else literal.value


def _keys(
    extractor: KeyExtractor, literal: Literal | Values | None, constants: Mapping[int, Value]
) -> list[tuple[KeyExtractor, str]]:
    """Return an extractor's keys for a value; none where the value gives none."""
    if literal is None:
        return [(extractor, "")]
    value = _value(literal, constants)
    if isinstance(value, tuple):
        return [(extractor, each) for each in value if isinstance(each, str)]
    if not isinstance(value, str):
        return []
    if extractor.kind == "has":
        return [(extractor, word) for word in sorted(tokenize(value), key=len)[-1:]]
    if extractor.kind == "starts":
        return _ends_of(extractor, value)
    return [(extractor, value)]


def _ends_of(extractor: KeyExtractor, pattern: str) -> list[tuple[KeyExtractor, str]]:
    """Return the text with which a LIKE pattern begins, or else that with which it ends."""
    parts = re.findall(r"\\.|[^\\]", pattern, re.DOTALL)
    begins: list[str] = []
    for part in parts:
        if part in ("%", "_"):
            break
        begins.append(part[-1])
    else:
        return [(extractor, fold_case("".join(begins))[:LONGEST])] if begins else []
    ends: list[str] = []
    for part in reversed(parts):
        if part in ("%", "_"):
            break
        ends.append(part[-1])
    if begins:
        return [(extractor, fold_case("".join(begins))[:LONGEST])]
    if ends:
        return [(replace(extractor, kind="ends"), fold_case("".join(reversed(ends)))[-LONGEST:])]
    return []


def extract_tokens(kind: Kind, value: str) -> Iterator[str]:
    """Yield the tokens that a value has for an extractor of a kind.

    >>> sorted(extract_tokens("starts", "Ab"))
    ['a', 'ab']
    """
    match kind:
        case "has":
            yield from tokenize(value)
        case "starts":
            text = fold_case(value)[:LONGEST]
            yield from (text[:end] for end in range(1, len(text) + 1))
        case "ends":
            text = fold_case(value)[-LONGEST:]
            yield from (text[begin:] for begin in range(len(text)))
        case _:
            yield value
