"""Sizes as operators write them: ``larger:5M``, ``size:10k..2m``, ``~z >1M``."""

from __future__ import annotations

import re
from decimal import Decimal

from tapestry.core.errors import Span
from tapestry.query.phrases.joining import joined, negated
from tapestry.query.phrases.nodes import Amount, Phrase, PhraseNode

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kmg]?)b?", re.IGNORECASE)
_SIZE_RANGE = re.compile(r"([0-9]+[kmg]?)?(?:\.\.|-)([0-9]+[kmg]?)?", re.IGNORECASE)
_KILO = 1024


def _bytes(text: str, kilo: int) -> Decimal:
    match = _SIZE.fullmatch(text)
    assert match is not None
    power = {"": 0, "k": 1, "m": 2, "g": 3}[match[2].lower()]
    return Decimal(match[1]) * Decimal(kilo) ** power


def _larger(size: Decimal, span: Span, unit: str = "KB") -> Phrase:
    return Phrase("larger_than", span, amount=Amount(size, span, unit))


def size_of(name: str, value: str, span: Span) -> PhraseNode | None:
    """Return what a size says: ``5M``, ``>10k``, ``1M..2M``; None if it is none.

    >>> size_of("smaller", "5M", Span(0, 2)).part.amount.unit
    'MB'
    """
    sign = value[:1] if value[:1] in "<>" else ""
    value = value.removeprefix(sign)
    match = _SIZE.fullmatch(value)
    if match is None:
        return _between_sizes(name, value, span)
    if match[2].lower() in ("k", "m"):
        phrase = _larger(Decimal(match[1]), span, f"{match[2].upper()}B")
    else:
        phrase = _larger(_bytes(value, _KILO) / _KILO, span)
    return negated(phrase) if name in ("smaller", "maxsize") or sign == "<" else phrase


def _between_sizes(name: str, value: str, span: Span) -> PhraseNode | None:
    match = _SIZE_RANGE.fullmatch(value)
    if match is None or not any(match.groups()):
        return None
    kilo = _KILO if name == "~z" else 1000
    parts: list[PhraseNode] = []
    if match[1]:
        parts.append(_larger((_bytes(match[1], kilo) - 1) / _KILO, span))
    if match[2]:
        parts.append(negated(_larger(_bytes(match[2], kilo) / _KILO, span)))
    return joined("and", parts)
