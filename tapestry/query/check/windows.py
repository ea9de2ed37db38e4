"""Write a physical window, of so many messages, out: a TOP, or a COUNT of those beyond.

m IN LAST 50 AMONG C(m)
m IN TOP 50 BY MAX(x.received: x.msgid = m.msgid) AMONG C(m)

m IN LAST 10 PER m.sender AMONG C(m)
C(m) AND COUNT(DISTINCT x.msgid: C(x) AND x.sender = m.sender AND x is received after m) < 10
"""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES, Type
from tapestry.query.check.copies import Copier, moment
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import conjuncts


def last_of_all(
    node: n.Window, message: n.Column, ranked: n.Binding, condition: n.Condition, copier: Copier
) -> n.Condition:
    """Return that ``message``, a msgid, is among the last of the ``ranked`` that meet a condition.

    Law: it holds for those messages for which the window, read literally, does.
    """
    row = copier.another(ranked)
    same = n.Compare("=", _key(row), _key(ranked))
    latest = n.Aggregate("MAX", False, moment(row), (row,), same, Type.INSTANT, span=node.span)
    return n.Top(message, node.limit, ranked, latest, condition, span=node.span)


def last_of_each(
    node: n.Window,
    message: n.Binding,
    other: n.Binding,
    per: list[n.Column],
    here: n.Condition,
    condition: n.Condition,
    copier: Copier,
) -> n.Condition:
    """Return that fewer than so many of the ``other`` with the same values stand beyond a message.

    ``condition`` and the columns ``per``, checked, are of ``other``; ``here`` is the condition of
    the message.  Raises TapestryError where a column is a set.  Law: as above.
    """
    there = copier.test(condition, {})
    same: list[n.Condition] = []
    present: list[n.Condition] = []
    for column in per:
        if column.type is Type.SET:
            hint = "Write PER m.sender, or another column with one value."
            raise TapestryError("PER cannot take a set.", column.span, hint)
        own = replace(column, var=message.var)
        same.append(n.Compare("=", column, own))
        present.append(n.Not(n.IsNull(own)))
    tests = [] if there == n.Truth(True) else conjuncts(there)
    beyond = n.And.of([*tests, *same, _is_beyond(other, message, ">" if node.last else "<")])
    count = n.Aggregate("COUNT", True, _key(other), (other,), beyond, Type.INTEGER, span=node.span)
    first = [] if here == n.Truth(True) else [here]
    return n.And.of([*first, *present, n.Threshold(count, "<", node.limit, span=node.span)])


def _is_beyond(other: n.Binding, message: n.Binding, op: str) -> n.Condition:
    """Return that one message stands nearer the end than another: by instant, then by msgid."""
    at, own = moment(other), moment(message)
    tie = n.And((n.Compare("=", at, own), n.Compare("<", _key(other), _key(message))))
    return n.Or((n.Compare(op, at, own), tie))


def _key(row: n.Binding) -> n.Column:
    assert row.table == MESSAGES
    return n.Column(row.var, "msgid", Type.TEXT)
