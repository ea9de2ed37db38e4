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
    return annotated(is_tag, is_named, *_by_person(phrase, context))


def _without_a_tag(phrase: Phrase, context: Context) -> n.Condition:
    is_tag = equal(column("kind", "a"), text("tag"))
    return n.Not(annotated(is_tag, *_by_person(phrase, context)))


def _without_an_annotation(phrase: Phrase, context: Context) -> n.Condition:
    return n.Not(annotated(*_by_person(phrase, context)))


def _by_person(phrase: Phrase, context: Context) -> tuple[n.Condition, ...]:
    """Return the condition that the person of a phrase annotated; none if it names nobody."""
    return () if phrase.person == NO_PERSON else (annotator_is(phrase.person, context),)


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
