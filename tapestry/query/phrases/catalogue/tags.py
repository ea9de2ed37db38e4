"""Phrases about tags and other annotations."""

from __future__ import annotations

from tapestry.query.phrases.catalogue.conditions import annotated, column, equal, text, user_name
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind
from tapestry.query.tree import nodes as n


def _owner_is(phrase: PhraseInContext) -> n.Condition:
    return equal(column("owner", "a"), user_name(phrase.who, phrase.context))


def _tagged(phrase: PhraseInContext) -> n.Condition:
    tag = text(phrase.words.text, phrase.words.span)
    tests = [equal(column("kind", "a"), text("tag")), equal(column("value", "a"), tag)]
    return annotated(*tests, *([_owner_is(phrase)] if phrase.phrase.who else []))


KINDS = (
    PhraseKind(
        name="tagged",
        spelling="tagged {words:later}",
        description="that somebody tagged with this word",
        rank=15,
        meaning=_tagged,
        extension=("who", "tagged {words} by {who}"),
    ),
    PhraseKind(
        name="annotated",
        spelling="annotated by {who:terry}",
        description="that this person voted on, tagged or noted",
        rank=40,
        meaning=lambda phrase: annotated(_owner_is(phrase)),
    ),
)
