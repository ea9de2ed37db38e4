"""Phrases about the words of a message, and where it was posted."""

from __future__ import annotations

from tapestry.query.phrases.catalogue.conditions import column, equal, escape, text
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE


def _has_words(phrase: PhraseInContext, *columns: str) -> n.Condition:
    value = text(phrase.words.text, phrase.words.span)
    return n.Or.of([n.Has(column(name), value) for name in columns])


def _in_newsgroup(phrase: PhraseInContext) -> n.Condition:
    group, span = phrase.words.text.lower(), phrase.words.span
    if group.endswith(".*"):
        return n.Like(column("newsgroups"), text(escape(group[:-1]) + "%", span))
    return equal(column("newsgroups"), text(group, span))


def _in_filter(phrase: PhraseInContext) -> n.Condition:
    owner = phrase.phrase.owner
    name = phrase.words.text
    return n.InFilter(MESSAGE, owner.text if owner else None, name, span=phrase.phrase.span)


def _on_list(phrase: PhraseInContext) -> n.Condition:
    name = phrase.words
    return n.Like(column("list"), text(escape(name.text.lower()) + "%", name.span))


KINDS = (
    PhraseKind(
        name="about",
        spelling="about {words:release}",
        description="with these words in the subject",
        rank=2,
        meaning=lambda phrase: _has_words(phrase, "subject"),
        others=("SUBJECT words",),
    ),
    PhraseKind(
        name="mentioning",
        spelling="mentioning {words:release}",
        description="with these words in subject or body",
        rank=6,
        meaning=lambda phrase: _has_words(phrase, "subject", "body"),
        others=("CONTAINING words",),
    ),
    PhraseKind(
        name="in",
        spelling="in {words:comp.databases}",
        description="of a newsgroup, such as comp.databases or comp.*",
        rank=9,
        meaning=_in_newsgroup,
        others=("IN NEWSGROUP words",),
    ),
    PhraseKind(
        name="in_filter",
        spelling="in filter {words:baseball}",
        description="that another filter finds",
        rank=17,
        meaning=_in_filter,
        extension=("owner", "in {owner}'s {words}"),
    ),
    PhraseKind(
        name="on_list",
        spelling="on list {words:everyone}",
        description="of a mailing list",
        rank=18,
        meaning=_on_list,
    ),
)
