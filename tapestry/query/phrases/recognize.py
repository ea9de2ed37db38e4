"""A condition back to the phrase that means it, where there is one.

The patterns propose a phrase, which is then read: it is shown only if the two conditions have the
same canonical form.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.query.check.checker import check
from tapestry.query.check.definite import as_written
from tapestry.query.phrases import parser as phrases
from tapestry.query.phrases.nodes import Joined, Negated, PhraseNode, depth_of
from tapestry.query.phrases.patterns import NOBODY, longest, phrase_like
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.tql import parser as tql
from tapestry.query.tree import nodes as n
from tapestry.query.tree.canonical import canonicalize
from tapestry.query.tree.ordering import alpha_normalize, order_as_phrase
from tapestry.query.tree.parsed import MisreadError

MOST = 40
"""Conditions with more parts than this have no phrase: nobody would read it."""


def canonical_phrase(query: n.CheckedQuery) -> str | None:
    """Return the canonical phrase of a filter, or None if it has none.

    It is that of the phrase as written, else one recognised in the condition.  A filter with
    another person's filter written out in it is not recognised: the asker is not shown that.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> canonical_phrase(read("m.received < now() - 14 days AND m.subject HAS 'spark'", Context()))
    'two weeks old and about spark'
    """
    if query.phrase is not None or query.borrows:
        return query.phrase
    return recognize(query.condition)


def recognize(condition: n.Condition) -> str | None:
    """Return the canonical phrase that means a checked condition, or None if there is none.

    It never says ``me`` or names another filter, and never raises.
    """
    if _size(condition) > MOST:
        return None
    usual = canonicalize(condition)
    if _size(usual) > MOST:
        return None
    ordered = order_as_phrase(usual)
    texts = [_meaning(tree, usual) for tree in dict.fromkeys((usual, ordered))]
    return min(filter(None, texts), key=len, default=None)


def is_single_phrase(condition: n.Condition) -> bool:
    """Tell whether a checked condition is one phrase, without ``and``, ``or`` or ``not``.

    What stands behind a ``not`` counts as it was written.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> [
    ...     is_single_phrase(read(text, Context()).condition)
    ...     for text in ("from Jones", "from Jones or about lunch", "m.size > 3 OR m.list = 'a'")
    ... ]
    [True, False, False]
    """
    if _size(condition) > MOST:
        return False
    usual = canonicalize(as_written(condition))
    trees = dict.fromkeys((usual, order_as_phrase(usual)))
    return any(
        phrase is not None and not isinstance(phrase, Joined | Negated)
        for phrase in map(_phrase_of, trees)
    )


def _meaning(tree: n.Condition, usual: n.Condition) -> str | None:
    """Return the phrase that is made of the parts of a tree, if it means the same."""
    phrase = _phrase_of(tree)
    text = print_phrase(phrase) if phrase else ""
    return text if text and text.isprintable() and _means(text, usual) else None


def _size(node: n.Condition) -> int:
    match node:
        case n.And() | n.Or():
            return 1 + sum(map(_size, node.args))
        case n.Not():
            return 1 + _size(node.arg)
        case n.Exists():
            return 1 + _size(node.condition)
        case n.Threshold():
            return 1 + _size(node.aggregate.condition)
        case n.Top():
            return 1 + _size(node.aggregate.condition) + _size(node.condition)
        case _:
            return 1


# Reading back


def _means(text: str, usual: n.Condition) -> bool:
    """Tell whether a text is a phrase, spelled canonically, that means a canonical condition."""
    try:
        with suppress(MisreadError):
            tql.parse(text)
            return False
        parsed = phrases.parse(text, NOBODY)
        read = check(parsed, text, NOBODY, phrases.parse)
    except TapestryError:
        return False
    meaning = canonicalize(read.condition)
    return parsed.phrase == text and alpha_normalize(meaning) == alpha_normalize(usual)


# Parts joined by and, or, not


def _phrase_of(condition: n.Condition) -> PhraseNode | None:
    match condition:
        case n.And():
            return _joined("and", condition)
        case n.Or():
            return _joined("or", condition)
        case n.Not():
            return phrase_like(condition) or _negated(condition)
        case _:
            return phrase_like(condition)


def _negated(condition: n.Not) -> PhraseNode | None:
    part = _phrase_of(as_written(condition.arg))
    return Negated(part, 1 + depth_of(part)) if part else None


def _joined(word: str, condition: n.And | n.Or) -> PhraseNode | None:
    """Cut the parts of an AND or OR into phrases, each as long as possible."""
    parts: list[PhraseNode] = []
    args = condition.args
    begin = 0
    while begin < len(args):
        for end in range(min(begin + longest(), len(args)), begin, -1):
            several = end - begin > 1
            phrase = (
                phrase_like(replace(condition, args=args[begin:end]))
                if several
                else _phrase_of(args[begin])
            )
            if phrase:
                parts.append(phrase)
                begin = end
                break
        else:
            return None
    if len(parts) == 1:
        return parts[0]
    return Joined(word, tuple(parts), 1 + max(map(depth_of, parts)))
