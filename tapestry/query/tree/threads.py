"""Threads in a tree: messages that have a root in common (tapestry.tables.write.threads)."""

from __future__ import annotations

from tapestry.core.schema import THREADS, Type
from tapestry.query.tree import nodes as n


def in_thread_of(
    message: str, other: n.Binding, condition: n.Condition, roots: tuple[str, str]
) -> n.Exists:
    """Return that a message is in one thread with another one that meets a condition.

    ``roots`` are names for the facts about the two.

    >>> from tapestry.query.tree.printer import print_condition
    >>> large = n.Compare(">", n.Column("r", "size"), n.Literal(5, Type.INTEGER))
    >>> print(print_condition(in_thread_of("m", n.Binding("r", "messages"), large, ("s", "t"))))
    EXISTS (s IN threads, t IN threads: s.msgid = m.msgid AND t.root = s.root AND EXISTS (r: \
r.msgid = t.msgid AND r.size > 5))
    """
    here, there = (n.Binding(name, THREADS) for name in roots)
    theirs = equal(other.var, "msgid", there.var, "msgid")
    tests: list[n.Condition] = [
        equal(here.var, "msgid", message, "msgid"),
        equal(there.var, "root", here.var, "root"),
        n.Exists((other,), n.And.of([theirs, condition])),
    ]
    return n.Exists((here, there), n.And.of(tests))


def equal(var: str, name: str, other: str, its: str) -> n.Compare:
    """Return that texts of two variables are equal."""
    return n.Compare("=", n.Column(var, name, Type.TEXT), n.Column(other, its, Type.TEXT))
