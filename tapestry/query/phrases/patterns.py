"""The pattern of each kind of phrase: its meaning in canonical form, with holes for its slots.

No pattern is written by hand.  The meaning of a kind is taken with sample values in its slots;
the constants of the condition that come from a sample are the holes.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.query.check.checker import check
from tapestry.query.context import Context
from tapestry.query.phrases import parser as phrases
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.catalogue.kind import slots_of
from tapestry.query.phrases.catalogue.size import BYTES
from tapestry.query.phrases.filetypes import FILE_TYPES
from tapestry.query.phrases.nodes import NOWHERE, Amount, Person, Phrase, Words
from tapestry.query.phrases.semantics import condition_of
from tapestry.query.phrases.slips import may_be_newsgroup
from tapestry.query.phrases.wildcards import of_like
from tapestry.query.tree import nodes as n
from tapestry.query.tree.canonical import canonicalize
from tapestry.query.tree.ordering import alpha_normalize
from tapestry.query.tree.parsed import Parsed, on_message
from tapestry.query.tree.printer import print_duration

NOBODY = Context()
"""A recognised phrase neither says ``me`` nor refers to a filter: it means the same to all."""

Shape = tuple[type, tuple[Any, ...]]
"""The kind of a condition (AND, OR or another), and its parts without their constants."""

Constants = tuple[n.Literal, ...]

_DATES = frozenset(("date", "day", "period"))
_WILDCARD = re.compile(r"(?<!\\)(?:\\\\)*[%_]")
_ESCAPED = re.compile(r"\\([%_\\])")

_TEXTS = {"person": "<person>", "words": "<words>"}
_NUMBERS = {"amount": 7919, "upper": 7927}
"""Constants that a sample puts into the condition, by the slots of a phrase."""

_NAME, _WORDS = _TEXTS["person"], _TEXTS["words"]
_AGE, _UPPER = (Amount(Decimal(value), NOWHERE, "microsecond") for value in _NUMBERS.values())
_ONE = Amount(Decimal(1), NOWHERE)
_SAMPLES: dict[str, tuple[str, tuple[Person | Words | Amount, ...]]] = {
    "person": (
        "person",
        (
            Person("name", _NAME, NOWHERE),
            Person("address", _NAME, NOWHERE),
            Person("domain", "@" + _NAME, NOWHERE),
        ),
    ),
    "words": ("words", (Words(_WORDS, NOWHERE), Words(_WORDS + ".*", NOWHERE))),
    "filetype": (
        "words",
        tuple([Words(name, NOWHERE) for name in (*FILE_TYPES, f"{_WORDS} files")]),
    ),
    "number": ("amount", (replace(_AGE, unit=""), _ONE)),
    "share": ("amount", (replace(_AGE, unit="%"),)),
    "unit": ("amount", (Amount(_AGE.value / BYTES["KB"], NOWHERE, "KB"),)),
    "age": ("amount", (_AGE,)),
    "low": ("amount", (_AGE,)),
    "upper": ("upper", (_UPPER,)),
}
"""The slot of the phrase and samples of each of its forms, for a slot in a template."""


def longest() -> int:
    """Return how many parts of an AND or OR one phrase may mean together, at most."""
    return max(len(parts) for _, parts in patterns())


def phrase_like(condition: n.Condition) -> Phrase | None:
    """Return the first phrase of the catalogue that a canonical condition may mean."""
    if _outline(condition) not in _outlines():
        return None
    shape, constants = _shape(condition)
    for sample, holes in patterns().get(shape, ()):
        slots = _filled(sample, holes, constants)
        if slots is not None:
            phrase = replace(sample, **slots)
            try:
                condition_of(phrase, NOBODY)
            except TapestryError:
                continue  # such as an age below nothing
            if may_be_newsgroup(phrase):
                return phrase
    return None


@cache
def patterns() -> dict[Shape, list[tuple[Phrase, Constants]]]:
    """Return, by shape, samples of phrases and the constants that they put into it."""
    patterns = defaultdict(list)
    # “More than one” may have a form of its own; where another kind has it too, that goes first.
    for phrase in sorted(_samples(), key=lambda phrase: phrase.amount == _ONE):
        try:
            parsed = Parsed(on_message(condition_of(phrase, NOBODY)), "phrase")
            meaning = canonicalize(check(parsed, "", NOBODY, phrases.parse).condition)
        except TapestryError:
            continue  # such as votes by a domain, or a reference to another filter
        shape, constants = _shape(meaning)
        patterns[shape].append((phrase, constants))
        if isinstance(meaning, n.And) and all(isinstance(arg, n.Compare) for arg in meaning.args):
            shape, constants = _shape(n.And(meaning.args[::-1]))  # a range, from its other end
            patterns[shape].append((phrase, constants))
    return dict(patterns)


@cache
def _outlines() -> frozenset[tuple[type, ...]]:
    return frozenset((kind, *[part[0] for part in parts]) for kind, parts in patterns())


def _outline(condition: n.Condition) -> tuple[type, ...]:
    """Return the kinds of nodes that its shape begins with: a quick test of whether to make it."""
    return (type(condition), *map(type, _parts(condition)))


def _parts(condition: n.Condition) -> tuple[n.Condition, ...]:
    return condition.args if isinstance(condition, n.And | n.Or) else (condition,)


def _samples() -> Iterator[Phrase]:
    """Yield samples of each kind of phrase, with all combinations of sample values."""
    for kind in KINDS.values():
        for template in kind.templates:
            if not _DATES.isdisjoint(slots_of(template)):
                continue  # A date is a matter of the time zone, which a condition does not say.
            slots = dict(_SAMPLES[slot] for slot in slots_of(template) if slot in _SAMPLES)
            for values in itertools.product(*slots.values()):
                chosen: dict[str, Any] = dict(zip(slots, values, strict=True))
                yield replace(Phrase(kind.name, NOWHERE), **chosen)


def _shape(condition: n.Condition) -> tuple[Shape, Constants]:
    """Return the shape of a canonical condition, and its constants from left to right."""
    constants: list[n.Literal] = []
    parts = tuple([_blanked(_normal(part), constants) for part in _parts(condition)])
    return (type(condition), parts), tuple(constants)


def _normal(part: n.Condition) -> n.Condition:
    """Return a part with its variables named by depth; a NOT NOT stays, no phrase means it."""
    match part:
        case n.Compare() | n.Like() | n.Has() | n.IsNull():
            return part  # binds no variable
        case n.Not(n.Not(inner)):
            return n.Not(n.Not(alpha_normalize(inner)))
    return alpha_normalize(part)


def _blanked(part: Any, constants: list[n.Literal]) -> Any:
    """Return a node as nested tuples, its constants moved into a list."""
    if isinstance(part, tuple):
        return tuple([_blanked(item, constants) for item in part])
    if isinstance(part, n.Literal):
        constants.append(part)
        return n.Literal
    if isinstance(part, n.Node):
        values = [_blanked(getattr(part, name), constants) for name in part.__slots__]
        return (type(part), *values)
    return part


def _filled(sample: Phrase, holes: Constants, constants: Constants) -> dict[str, Any] | None:
    """Return the slots that constants fill; None if they do not fit the holes of a sample."""
    slots: dict[str, Any] = {}
    for hole, constant in zip(holes, constants, strict=True):
        name = _slot_of(hole)
        if name is None:
            if hole.value != constant.value:
                return None
            continue
        if sample.kind.endswith("_like"):
            constant = replace(constant, value=of_like(str(constant.value)))
        value = _value(name, getattr(sample, name), hole, constant)
        if value is None or not _is_same(slots.setdefault(name, value), value):
            return None
    return slots


def _slot_of(hole: n.Literal) -> str | None:
    """Return the slot of a sample that a constant comes from, if it comes from one."""
    if isinstance(hole.value, str):
        return next((name for name, text in _TEXTS.items() if text in str(hole.value)), None)
    return next(
        (name for name, value in _NUMBERS.items() if hole.value in (value - 1, value)), None
    )


def _value(name: str, sample: Any, hole: n.Literal, constant: n.Literal) -> Any:
    """Return a slot as its sample, but with a constant in place of what is in the hole."""
    if isinstance(hole.value, str):
        before, after = hole.value.split(_TEXTS[name])
        text = str(constant.value)
        inner = text.removeprefix(before).removesuffix(after)
        if len(inner) != len(text) - len(before) - len(after):
            return None
        if before or after:  # the pattern of a LIKE
            if _WILDCARD.search(inner):
                return None
            inner = _ESCAPED.sub(r"\1", inner)
        return replace(sample, text=sample.text.replace(_TEXTS[name], inner))
    if not isinstance(constant.value, int | float):
        return None
    assert isinstance(hole.value, int)
    return _amount(Decimal(repr(constant.value)) + _NUMBERS[name] - hole.value, sample.unit)


def _amount(value: Decimal, unit: str) -> Amount:
    """Return a number, a size in bytes or an age in microseconds, in the unit that suits it.

    A size is in MB if two decimals will do, else in KB.

    >>> [str(_amount(Decimal(size), "KB").value) for size in (10240, 1572864, 1500)]
    ['10', '1.5', '1.46484375']
    """
    if unit in BYTES:
        unit = "MB" if value >= BYTES["MB"] and value * 100 % BYTES["MB"] == 0 else "KB"
        return Amount(value / BYTES[unit], NOWHERE, unit)
    if unit == "%":
        return Amount(value, NOWHERE, unit)
    if unit:
        number, unit = print_duration(int(value))
        return Amount(Decimal(number), NOWHERE, unit.removesuffix("s"))
    return Amount(value, NOWHERE)


def _is_same(first: Person | Words | Amount, second: Person | Words | Amount) -> bool:
    if isinstance(first, Amount) or isinstance(second, Amount):
        return first == second
    return first.text.lower() == second.text.lower()
