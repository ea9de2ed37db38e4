"""The explanation of a match: which disjunct of the filter the message meets, in words."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tapestry.core.errors import TapestryError
from tapestry.core.ports import DueFilter
from tapestry.plan.compile import Compiled, compile_due, compile_stored
from tapestry.query.phrases.recognize import canonical_phrase, recognize
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_condition
from tapestry.query.tree.walk import transform
from tapestry.rewrite.restore import conjunction_condition


def explanation(due_filter: DueFilter, disjunct: int) -> str:
    """Return why a message matches a stored filter: its owner's words, or the disjunct met."""
    if due_filter.explanation:
        return due_filter.explanation
    try:
        return _in_words(due_filter.text, due_filter.live, disjunct)
    except TapestryError:  # it says "me": a text that is stored as TQL no longer does
        return disjunct_in_words(compile_due(replace(due_filter, completeness=None)), disjunct)


def disjunct_in_words(compiled: Compiled, index: int) -> str:
    """Return the phrase of one disjunct of the normal form, or its TQL where it has none.

    >>> from tapestry.plan.compile import compile_filter
    >>> from tapestry.query.context import Context
    >>> plan = compile_filter("about lunch or tagged lunch by mary", Context())
    >>> disjunct_in_words(plan, 1)
    'tagged lunch by mary'
    """
    disjuncts = compiled.query.normal.disjuncts
    phrase = canonical_phrase(compiled.checked) if len(disjuncts) == 1 else None
    if phrase:
        return phrase
    condition = transform(conjunction_condition(disjuncts[index]), _without_slot)
    return recognize(condition) or print_condition(condition)


@lru_cache(maxsize=100_000)
def _in_words(text: str, live: bool, disjunct: int) -> str:
    """Return the words of a disjunct, which are those of all filters with the text."""
    return disjunct_in_words(compile_stored(text, None, (), live), disjunct)


def _without_slot(node: n.Node) -> n.Node:
    return replace(node, slot=None) if isinstance(node, n.Literal | n.Values) else node
