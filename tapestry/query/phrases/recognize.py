"""A condition back to the phrase that means it, where there is one.

A phrase is guessed from the shape of the condition, then read: it is shown only if the two
conditions come to the same shape.  The guesses may thus be loose.
"""

from __future__ import annotations

from collections.abc import Callable

from tapestry.core.errors import TapestryError
from tapestry.query.check.checker import check
from tapestry.query.context import Context
from tapestry.query.phrases import parser as phrases
from tapestry.query.phrases.nodes import Joined, Negated, Phrase, Said, depth_of
from tapestry.query.phrases.patterns import both, either, one
from tapestry.query.phrases.printer import canonical
from tapestry.query.tql import parser as tql
from tapestry.query.tree.canonical import canonicalize
from tapestry.query.tree.nodes import And, CheckedQuery, Condition, Exists, Not, Or, Threshold, Top
from tapestry.query.tree.ordering import alpha_normalize, order_as_phrase
from tapestry.query.tree.parsed import MisreadError

MOST = 40
"""Conditions with more parts than this have no phrase: nobody would read it."""

_Parts = tuple[Condition, ...]

_NOBODY = Context()
"""A recognised phrase neither says ``me`` nor refers to a filter: it means the same to all."""


def canonical_phrase(query: CheckedQuery) -> str | None:
    """Return the canonical phrase of a filter, or None if it has none.

    It is that of the phrase as written, else one recognised in the condition.  A filter with
    another person's filter written out in it is not recognised: the asker is not shown that.

    >>> from tapestry.query.frontend import read
    >>> canonical_phrase(read("m.ts < now() - 14 days AND m.subject HAS 'spark'", Context()))
    'two weeks old and about spark'
    """
    if query.phrase is not None or query.borrows:
        return query.phrase
    return recognize(query.condition)


def recognize(condition: Condition) -> str | None:
    """Return the canonical phrase that means a checked condition, or None if there is none.

    It never says ``me`` or names another filter, and never raises.
    """
    if _size(condition) > MOST:
        return None
    usual = canonicalize(condition)
    if _size(usual) > MOST:
        return None
    for tree in dict.fromkeys((usual, order_as_phrase(usual))):
        said = _said(tree)
        text = canonical(said) if said else ""
        if text and text.isprintable() and _means(text, usual):
            return text
    return None


def _size(node: Condition) -> int:
    match node:
        case And() | Or():
            return 1 + sum(map(_size, node.args))
        case Not():
            return 1 + _size(node.arg)
        case Exists():
            return 1 + _size(node.condition)
        case Threshold():
            return 1 + _size(node.aggregate.condition)
        case Top():
            return 1 + _size(node.aggregate.condition) + _size(node.condition)
        case _:
            return 1


# Reading back


def _means(text: str, usual: Condition) -> bool:
    """Tell whether a text is a phrase, spelled canonically, that means a canonical condition."""
    try:
        tql.parse(text)
        return False
    except MisreadError:
        pass
    except TapestryError:
        return False
    try:
        parsed = phrases.parse(text, _NOBODY)
        read = check(parsed, text, _NOBODY, phrases.parse)
    except TapestryError:
        return False
    return parsed.phrase == text and alpha_normalize(
        canonicalize(read.condition)
    ) == alpha_normalize(usual)


# Parts joined by and, or, not


def _said(node: Condition) -> Said | None:
    match node:
        case And():
            return _joined("and", node.args, both)
        case Or():
            return _joined("or", node.args, either)
        case Not():
            return one(node) or _negated(node)
        case _:
            return one(node)


def _negated(node: Not) -> Said | None:
    part = _said(node.arg)
    return Negated(part, 1 + depth_of(part)) if part else None


def _joined(word: str, args: _Parts, phrase: Callable[[_Parts], Phrase | None]) -> Said | None:
    """Cut the parts of an AND or OR into phrases, each as long as possible."""
    found: list[Said] = []
    at = 0
    while at < len(args):
        for end in range(min(at + 4, len(args)), at, -1):
            said = phrase(args[at:end]) if end - at > 1 else _said(args[at])
            if said:
                found.append(said)
                at = end
                break
        else:
            return None
    if len(found) == 1:
        return found[0]
    return Joined(word, tuple(found), 1 + max(map(depth_of, found)))
