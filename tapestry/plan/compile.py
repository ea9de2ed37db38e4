"""Text to a plan, through every stage."""

from __future__ import annotations

from dataclasses import dataclass

from tapestry.plan.signature import Signature, signature
from tapestry.query.context import Context
from tapestry.query.nodes import CheckedQuery
from tapestry.query.parsed import placed
from tapestry.query.read import read
from tapestry.rewrite.pipeline import Rule, rewrite
from tapestry.rewrite.stages import IncrementalQuery


@dataclass(frozen=True, slots=True)
class Compiled:
    """A filter's plan: what the compiler made of its text, once."""

    checked: CheckedQuery
    query: IncrementalQuery
    signature: Signature


def compile_filter(text: str, context: Context, rule: Rule = "fast") -> Compiled:
    """Return the plan of a filter; raises TapestryError where the text is at fault."""
    return compile_query(read(text, context), rule)


def compile_query(checked: CheckedQuery, rule: Rule = "fast") -> Compiled:
    """Return the plan of a checked filter."""
    with placed(checked.text):
        query = rewrite(checked, rule)
    return Compiled(checked, query, signature(query))
