"""A disjunct of a filter in words, for those whose message met it."""

from __future__ import annotations

from dataclasses import replace

from tapestry.plan.compile import Compiled
from tapestry.query.context import Context
from tapestry.query.phrases.recognize import phrase_of
from tapestry.query.tree.nodes import Literal, Node, Values
from tapestry.query.tree.printer import print_condition
from tapestry.query.tree.walk import transform
from tapestry.rewrite.restore import conjunction_condition


def disjunct_in_words(compiled: Compiled, index: int) -> str:
    """Return the phrase of one disjunct of the normal form, or its TQL where it has none.

    >>> from tapestry.plan.compile import compile_filter
    >>> plan = compile_filter("about lunch or tagged lunch by mary", Context())
    >>> disjunct_in_words(plan, 1)
    'tagged lunch by mary'
    """
    disjuncts = compiled.query.normal.disjuncts
    if len(disjuncts) == 1 and compiled.checked.phrase:
        return compiled.checked.phrase
    condition = transform(conjunction_condition(disjuncts[index]), _without_slot)
    return phrase_of(condition, Context()) or print_condition(condition)


def _without_slot(node: Node) -> Node:
    return replace(node, slot=None) if isinstance(node, Literal | Values) else node
