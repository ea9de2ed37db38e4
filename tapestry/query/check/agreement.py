"""Write out how often two people agree: a sum over the votes that both gave to one message.

Collaborative filtering [Goldberg92], without a list of colleagues written by hand.

AGREES(a.owner, 'mary') > 0.7
a.owner <> 'mary'
AND COUNT(v, w IN annotations: B) >= 3
AND SUM(5 * v.number * w.number - 2, v, w IN annotations: B) > 0

B is that v and w are votes, for or against, of these two on one message.  The product of two votes
is 1 where they agree and -1 where not, so with A pairs that agree of N the sum of the products is
2A - N, and A / N > p / q as q (2A - N) - (2p - q) N > 0.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from tapestry.core.agreement import MIN_IN_COMMON
from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS, Type
from tapestry.query.check.comparisons import compare, in_list, refuse_now
from tapestry.query.check.terms import a
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
    count = _pairs("COUNT", None, one, other, names, node)
    share = _share(node.share)
    whole, back = share.denominator, 2 * share.numerator - share.denominator
    common = gcd(whole, back)
    total = _pairs("SUM", (whole // common, back // common), one, other, names, node)
    minimum = n.Literal(MIN_IN_COMMON, Type.INTEGER)
    return n.And.of(
        [
            compare("<>", one, other, node.span),
            n.Threshold(count, ">=", minimum, span=node.span),
            n.Threshold(total, node.op, n.Literal(0, Type.INTEGER), span=node.span),
        ],
        node.span,
    )


def _share(literal: n.Literal) -> Fraction:
    share = Fraction(repr(literal.value))
    if not 0 <= share <= 1:
        hint = "Write 0.7 for seven votes of ten."
        raise TapestryError("A share is from 0 to 1.", literal.span, hint)
    if 10_000 % share.denominator:
        raise TapestryError("A share has at most four decimals.", literal.span, "Write 0.6667.")
    return share


def _pairs(
    function: str,
    weights: tuple[int, int] | None,
    one: n.Term,
    other: n.Term,
    names: FreshNames,
    node: n.Agreement,
) -> n.Aggregate:
    """Return an aggregate over the pairs of votes of two people; a COUNT has no weights."""
    theirs, mine = (n.Binding(names.take(var), ANNOTATIONS, span=node.span) for var in ("v", "w"))
    same = n.Column(theirs.var, "msgid", Type.TEXT), n.Column(mine.var, "msgid", Type.TEXT)
    tests: list[n.Condition] = [
        compare("=", n.Column(theirs.var, "owner", Type.TEXT), one, node.span),
        compare("=", n.Column(mine.var, "owner", Type.TEXT), other, node.span),
        compare("=", same[0], same[1], node.span),
    ]
    signs: list[n.Term] = [n.Literal(sign, Type.INTEGER) for sign in (1, -1)]
    numbers = [n.Column(vote.var, "number", Type.NUMBER) for vote in (theirs, mine)]
    for number in numbers:
        kind = n.Column(number.var, "kind", Type.TEXT)
        tests.append(compare("=", kind, n.Literal("vote", Type.TEXT), node.span))
        tests.append(in_list(number, signs, node.span))
    term = _weighed(*weights, *numbers) if weights else None
    kind_of = Type.NUMBER if weights else Type.INTEGER
    rows = n.And.of(tests)
    return n.Aggregate(function, False, term, (theirs, mine), rows, kind_of, span=node.span)


def _weighed(times: int, back: int, first: n.Term, second: n.Term) -> n.Term:
    """Return ``times`` × the product of two votes, less ``back``."""
    if times != 1:
        first = n.Arith("*", n.Literal(times, Type.INTEGER), first, Type.NUMBER)
    product = n.Arith("*", first, second, Type.NUMBER)
    if not back:
        return product
    op = "-" if back > 0 else "+"
    return n.Arith(op, product, n.Literal(abs(back), Type.INTEGER), Type.NUMBER)
