"""Phrases about tags and other annotations."""

from __future__ import annotations

from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import annotated, annotator_is, column, equal, text
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import NO_PERSON, Phrase
from tapestry.query.tree import nodes as n


def _tagged(phrase: Phrase, context: Context) -> n.Condition:
    is_tag = equal(column("kind", "a"), text("tag"))
    is_named = equal(column("value", "a"), text(phrase.words.text, phrase.words.span))
    if phrase.person == NO_PERSON:
        return annotated(is_tag, is_named)
    return annotated(is_tag, is_named, annotator_is(phrase.person, context))


def _without_a_tag(phrase: Phrase, context: Context) -> n.Condition:
    is_tag = equal(column("kind", "a"), text("tag"))
    by_any = phrase.person == NO_PERSON
    whose = () if by_any else (annotator_is(phrase.person, context),)
    return n.Not(annotated(is_tag, *whose))


def _without_an_annotation(phrase: Phrase, context: Context) -> n.Condition:
    by_any = phrase.person == NO_PERSON
    return n.Not(annotated(*(() if by_any else (annotator_is(phrase.person, context),))))


KINDS = (
    PhraseKind(
        spelling="tagged {words:later}",
        description="that somebody tagged with this word",
        rank=14,
        meaning=_tagged,
        extension=("person", "tagged {words} by {person}"),
    ),
    PhraseKind(
        spelling="annotated by {person:terry}",
        description="that this person voted on, tagged or noted",
        rank=39,
        meaning=lambda phrase, context: annotated(annotator_is(phrase.person, context)),
    ),
    PhraseKind(
        spelling="without a tag",
        description="that nobody tagged",
        rank=63,
        meaning=_without_a_tag,
        extension=("person", "without a tag by {person}"),
    ),
    PhraseKind(
        spelling="without an annotation",
        description="that nobody voted on, tagged or noted",
        rank=64,
        meaning=_without_an_annotation,
        extension=("person", "without an annotation by {person}"),
    ),
)
