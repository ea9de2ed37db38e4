"""Phrases about tags and other annotations."""

from __future__ import annotations

from tapestry.query.phrases.catalogue.conditions import annotated, column, equal, text, user_name
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind, Slots
from tapestry.query.phrases.catalogue.patterns import annotation_tests, user, words
from tapestry.query.tree import nodes as n


def _owner_is(phrase: PhraseInContext) -> n.Condition:
    return equal(column("owner", "a"), user_name(phrase.who, phrase.context))


def _tagged(phrase: PhraseInContext) -> n.Condition:
    tag = phrase.words
    tests: list[n.Condition] = [
        equal(column("kind", "a"), text("tag")),
        equal(column("value", "a"), text(tag.text, tag.span)),
    ]
    if phrase.phrase.who:
        tests.append(_owner_is(phrase))
    return annotated(*tests)


def _tag_of(condition: n.Condition) -> Slots | None:
    match annotation_tests(condition):
        case [("kind", "=", "tag"), ("value", "=", tag)]:
            return {"words": words(tag)}
        case [("kind", "=", "tag"), ("value", "=", tag), ("owner", "=", owner)]:
            return {"words": words(tag), "who": user(owner)}
    return None


def _annotator_of(condition: n.Condition) -> Slots | None:
    match annotation_tests(condition):
        case [("owner", "=", owner)]:
            return {"who": user(owner)}
    return None


KINDS = (
    PhraseKind(
        name="tagged",
        grammar=("TAGGED words", "TAGGED words BY who"),
        template="tagged {words}",
        extension=("who", "tagged {words} by {who}"),
        description="that somebody tagged with this word",
        example="tagged later",
        rank=15,
        meaning=_tagged,
        pattern=_tag_of,
    ),
    PhraseKind(
        name="annotated",
        grammar=("ANNOTATED BY who",),
        template="annotated by {who}",
        description="that this person voted on, tagged or noted",
        example="annotated by terry",
        rank=40,
        meaning=lambda phrase: annotated(_owner_is(phrase)),
        pattern=_annotator_of,
    ),
)
