"""The semantics of phrases: which condition on ``m`` each means."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.nodes import Joined, Negated, Phrase, PhraseNode, Refused
from tapestry.query.tree import nodes as n


def condition_of(node: PhraseNode, context: Context) -> n.Condition:
    """Return what a phrase means to the person of ``context``, in nodes that are not checked.

    Raises TapestryError, with its place, for what is understood but refused.
    """
    match node:
        case Joined(word="and"):
            return n.And(tuple([condition_of(part, context) for part in node.parts]))
        case Joined():
            return n.Or(tuple([condition_of(part, context) for part in node.parts]))
        case Negated():
            return n.NotTrue(condition_of(node.part, context))
        case Phrase():
            return KINDS[node.kind].meaning(node, context)
        case Refused():
            raise TapestryError(node.message, node.span, node.hint)
