"""Write what compares a message's place in its thread out: its depth, and its roots.

m.depth > 2
EXISTS (p, p2, p3: p.msgid = m.inreplyto AND p2.msgid = p.inreplyto AND p3.msgid = p2.inreplyto)

m.root = r.root
EXISTS (s IN threads, s2 IN threads: s.msgid = m.msgid AND s2.msgid = r.msgid AND s.root = s2.root)
"""

from __future__ import annotations

from typing import TypeGuard

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES, THREADS, Type
from tapestry.query.check.comparisons import compare
from tapestry.query.check.scope import Scope, is_message
from tapestry.query.check.terms import typed
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import FreshNames
from tapestry.query.tree.threads import equal
from tapestry.query.tree.walk import FLIPPED, type_of

MOST_DEPTH = 16
"""Messages above another that a filter may count: each is one more row to join."""


def place_in_thread(node: n.Compare, scope: Scope, names: FreshNames) -> n.Condition | None:
    """Return a comparison of depths or roots written out, None where it is another.

    Raises TapestryError where it is with anything that these do not compare with.
    """
    if node.op not in FLIPPED:
        return None
    sides = (node.op, node.left, node.right), (FLIPPED[node.op], node.right, node.left)
    for op, one, other in sides:
        if _is_place(one, "depth", scope):
            return _deep(op, one, typed(other, scope), scope, names)
        if _is_place(one, "root", scope):
            return _rooted(op, one, other, scope, names)
    return None


def _is_place(term: n.Term, name: str, scope: Scope) -> TypeGuard[n.Column]:
    """Tell whether a term is of a message: facts about threads have a root of their own."""
    if not isinstance(term, n.Column) or term.name.lower() != name or not term.var:
        return False
    return is_message(scope.variable(term.var, term.span))


def _deep(op: str, one: n.Column, depth: n.Term, scope: Scope, names: FreshNames) -> n.Condition:
    number = depth.value if isinstance(depth, n.Literal) else None
    if not isinstance(number, int) or type_of(depth) is not Type.INTEGER:
        message = "A depth is compared with a whole number."
        raise TapestryError(message, one.span, "Write m.depth > 3.")
    least = number + 1 if op in (">", "<=") else number
    if least > MOST_DEPTH - (op in ("=", "<>")):
        message = f"A depth is counted up to {MOST_DEPTH}."
        raise TapestryError(message, depth.span, "Write m.depth > 3.")
    row = scope.variable(one.var, one.span).var
    found = _above(row, least, names)
    if op in ("=", "<>"):
        found = n.And.of([found, n.Not(_above(row, number + 1, names))])
    return n.Not(found, span=one.span) if op in ("<", "<=", "<>") else found


def _above(message: str, count: int, names: FreshNames) -> n.Condition:
    """Return that so many messages stand above one, each that which the next answers."""
    below = message
    tests: list[n.Condition] = []
    rows: list[n.Binding] = []
    for _ in range(count):
        row = n.Binding(names.take("p"), MESSAGES)
        tests.append(equal(row.var, "msgid", below, "inreplyto"))
        rows.append(row)
        below = row.var
    return n.Exists(tuple(rows), n.And.of(tests)) if rows else n.Truth(True)


def _rooted(op: str, one: n.Column, other: n.Term, scope: Scope, names: FreshNames) -> n.Condition:
    if op not in ("=", "<>"):
        message = "A message may be of several threads, so that roots have no order."
        raise TapestryError(message, one.span, "Write m.root = r.root.")
    rows: list[n.Binding] = []
    tests: list[n.Condition] = []
    roots: list[n.Term] = []
    for term in (one, other):
        if not _is_place(term, "root", scope):
            roots.append(typed(term, scope))
            continue
        fact = n.Binding(names.take("s"), THREADS)
        tests.append(equal(fact.var, "msgid", scope.variable(term.var, term.span).var, "msgid"))
        rows.append(fact)
        roots.append(n.Column(fact.var, "root", Type.TEXT, span=term.span))
    tests.append(compare("=", roots[0], roots[1], one.span))
    found = n.Exists(tuple(rows), n.And.of(tests))
    return n.Not(found, span=one.span) if op == "<>" else found
