"""One test of columns, such as LIKE, HAS or BETWEEN: its terms typed, its sugar gone."""

from __future__ import annotations

import re

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.comparisons import compare, in_list, refuse_now
from tapestry.query.check.scope import Scope
from tapestry.query.check.terms import a, typed
from tapestry.query.limits import LETTER
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import type_of

_ESCAPED = re.compile(r"\\[%_\\]|\\")


def checked_test(node: n.Test, scope: Scope) -> n.Condition:
    """Check a test whose variables ``scope`` knows; TapestryError has the place of a fault."""
    match node:
        case n.Compare(op="IN", right=n.Call(args=items)):
            term = typed(node.left, scope)
            return in_list(term, [typed(item, scope) for item in items], node.span)
        case n.Compare():
            return compare(node.op, typed(node.left, scope), typed(node.right, scope), node.span)
        case n.InList():
            return n.InList(typed(node.term, scope), node.values, span=node.span)
        case n.Between():
            return _between(node, scope)
        case n.Braces():
            return _braces(node, scope)
        case n.Like():
            return _like(_text(node.term, scope, "LIKE"), node.pattern, node.span)
        case n.Has():
            return _has(node, scope)
        case n.IsNull():
            term = typed(node.term, scope)
            refuse_now(term, "before IS NULL")
            return n.Truth(False) if type_of(term) is Type.SET else n.IsNull(term, span=node.span)


def _between(node: n.Between, scope: Scope) -> n.Condition:
    term, low, high = (typed(part, scope) for part in (node.term, node.low, node.high))
    for part in (term, low, high):
        if isinstance(part, n.Column) and part.type is Type.SET:
            name = f"{part.var}.{part.name}"
            raise TapestryError(
                "BETWEEN cannot take a set.",
                part.span,
                f"Write {name} >= … AND {name} <= …, which different elements may meet.",
            )
    bounds = compare(">=", term, low, node.span), compare("<=", term, high, node.span)
    return n.And.of(bounds, node.span)


def _braces(node: n.Braces, scope: Scope) -> n.Condition:
    term = typed(node.term, scope)
    if type_of(term) is not Type.SET:
        raise TapestryError(
            f"Braces are for sets, and this is {a(type_of(term))}.",
            node.term.span,
            "Write m.subject LIKE '%a%' AND m.subject LIKE '%b%'.",
        )
    return n.And.of(
        [
            _like(term, test.pattern, test.span)
            if isinstance(test, n.Like)
            else compare("=", term, test, test.span)
            for test in node.tests
        ],
        node.span,
    )


def _text(node: n.Term, scope: Scope, word: str) -> n.Term:
    term = typed(node, scope)
    if type_of(term) not in (Type.TEXT, Type.SET):
        message = f"{word} takes a text, not {a(type_of(term))}."
        raise TapestryError(message, term.span, f"Write m.subject {word} '…'.")
    return term


def _like(term: n.Term, pattern: n.Literal, span: Span | None) -> n.Like:
    """Return a LIKE whose pattern has backslashes only before ``%``, ``_`` or a backslash."""
    normal = _ESCAPED.sub(lambda found: found[0].ljust(2, "\\"), str(pattern.value))
    return n.Like(term, n.Literal(normal, Type.TEXT, span=pattern.span), span=span)


def _has(node: n.Has, scope: Scope) -> n.Has:
    term, words = _text(node.term, scope, "HAS"), node.words
    if words.type is not Type.TEXT or not LETTER.search(str(words.value)):
        raise TapestryError(
            "HAS needs a word.", words.span, "Write letters or digits: m.subject HAS 'spark'."
        )
    return n.Has(term, words, span=node.span)
