"""Write out how often two people agree: the share of the messages on which their votes are alike.

Collaborative filtering [Goldberg92], without a list of colleagues written by hand.

AGREES(a.owner, 'mary') > 0.7
a.owner <> 'mary'
AND COUNT(v, w IN annotations: B) >= 3
AND SHARE(v, w IN annotations AMONG B: v.number = w.number) > 0.7

B is that v and w are votes, for or against, of these two on one message.
"""

from __future__ import annotations

from tapestry.core.agreement import MIN_IN_COMMON
from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS, Type
from tapestry.query.check.comparisons import compare, in_list, refuse_now
from tapestry.query.check.terms import a, aggregate_type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import FreshNames
from tapestry.query.tree.walk import columns_of, type_of

_EXAMPLE = "Write EXISTS (a IN annotations: a.msgid = m.msgid AND AGREES(a.owner, me) > 0.7)."


def is_me(column: n.Column) -> bool:
    """Return whether a term of AGREES is the person who asks."""
    return not column.var and column.name.lower() == "me"


def agreed(node: n.Agreement, one: n.Term, other: n.Term, names: FreshNames) -> n.Condition:
    """Return that the share of their votes in which two people agree compares as a node says.

    ``one`` and ``other`` are checked terms.  Raises TapestryError where they are no people of rows.
    Law: it holds where the share, counted literally, is there and compares so.
    """
    for term in (one, other):
        refuse_now(term, "in AGREES")
        if type_of(term) is not Type.TEXT:
            message = f"AGREES takes the names of two people, and this is {a(type_of(term))}."
            raise TapestryError(message, term.span or node.span, _EXAMPLE)
    if not any(list(columns_of(term)) for term in (one, other)):
        raise TapestryError("No row says of whom this AGREES is.", node.span, _EXAMPLE)
    assert isinstance(node.share.value, int | float)
    if not 0 <= node.share.value <= 1:
        hint = "Write 0.7 for seven votes of ten."
        raise TapestryError("A share is from 0 to 1.", node.share.span, hint)
    minimum = n.Literal(MIN_IN_COMMON, Type.INTEGER)
    return n.And.of(
        [
            compare("<>", one, other, node.span),
            n.Threshold(_pairs("COUNT", one, other, names, node), ">=", minimum, span=node.span),
            n.Threshold(_pairs("SHARE", one, other, names, node), node.op, node.share),
        ],
        node.span,
    )


def _pairs(
    function: str, one: n.Term, other: n.Term, names: FreshNames, node: n.Agreement
) -> n.Aggregate:
    """Return how many pairs of votes of two people there are, or the share of those alike."""
    theirs, mine = (n.Binding(names.take(var), ANNOTATIONS, span=node.span) for var in ("v", "w"))
    same = n.Column(theirs.var, "msgid", Type.TEXT), n.Column(mine.var, "msgid", Type.TEXT)
    votes = n.Column(theirs.var, "number", Type.NUMBER), n.Column(mine.var, "number", Type.NUMBER)
    tests: list[n.Condition] = [
        compare("=", n.Column(theirs.var, "owner", Type.TEXT), one, node.span),
        compare("=", n.Column(mine.var, "owner", Type.TEXT), other, node.span),
        compare("=", same[0], same[1], node.span),
    ]
    signs: list[n.Term] = [n.Literal(sign, Type.INTEGER) for sign in (1, -1)]
    for number in votes:
        kind = n.Column(number.var, "kind", Type.TEXT)
        tests.append(compare("=", kind, n.Literal("vote", Type.TEXT), node.span))
        tests.append(in_list(number, signs, node.span))
    alike = n.Among(None, compare("=", *votes, node.span)) if function == "SHARE" else None
    rows, type_ = n.And.of(tests), aggregate_type(function, None)
    return n.Aggregate(function, False, None, (theirs, mine), rows, type_, alike, span=node.span)
