"""Phrases about the words of a message, and where it was posted."""

from __future__ import annotations

from tapestry.query.phrases.catalogue.conditions import any_of, column, equal, escape, text
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind, Slots
from tapestry.query.phrases.catalogue.patterns import without_escapes, words
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE


def _has_words(phrase: PhraseInContext, *columns: str) -> n.Condition:
    value = text(phrase.words.text, phrase.words.span)
    return any_of(n.Has(column(name), value) for name in columns)


def _words_of_subject(condition: n.Condition) -> Slots | None:
    match condition:
        case n.Has(n.Column(_, "subject"), value):
            return {"words": words(value.value)}
    return None


def _words_of_text(condition: n.Condition) -> Slots | None:
    match condition:
        case n.Or((n.Has(n.Column(_, "subject"), value), n.Has(n.Column(_, "body"), same))) if (
            value == same
        ):
            return {"words": words(value.value)}
    return None


def _in_newsgroup(phrase: PhraseInContext) -> n.Condition:
    group, span = phrase.words.text.lower(), phrase.words.span
    if group.endswith(".*"):
        return n.Like(column("newsgroups"), text(escape(group[:-1]) + "%", span))
    return equal(column("newsgroups"), text(group, span))


def _newsgroup_of(condition: n.Condition) -> Slots | None:
    match condition:
        case n.Compare("=", n.Column(_, "newsgroups"), n.Literal(str(group))):
            return {"words": words(group)}
        case n.Like(n.Column(_, "newsgroups"), n.Literal(str(pattern))) if pattern.endswith(".%"):
            return {"words": words(without_escapes(pattern[:-1]) + "*")}
    return None


def _in_filter(phrase: PhraseInContext) -> n.Condition:
    owner = phrase.phrase.owner
    name = phrase.words.text
    return n.InFilter(MESSAGE, owner.text if owner else None, name, span=phrase.phrase.span)


def _on_list(phrase: PhraseInContext) -> n.Condition:
    name = phrase.words
    return n.Like(column("list"), text(escape(name.text.lower()) + "%", name.span))


def _list_of(condition: n.Condition) -> Slots | None:
    match condition:
        case n.Like(n.Column(_, "list"), n.Literal(str(pattern))) if pattern.endswith("%"):
            return {"words": words(without_escapes(pattern[:-1]))}
    return None


KINDS = (
    PhraseKind(
        name="about",
        grammar=("(ABOUT | SUBJECT) words",),
        template="about {words}",
        description="with these words in the subject",
        example="about release",
        rank=2,
        meaning=lambda phrase: _has_words(phrase, "subject"),
        pattern=_words_of_subject,
    ),
    PhraseKind(
        name="mentioning",
        grammar=("(MENTIONING | CONTAINING) words",),
        template="mentioning {words}",
        description="with these words in subject or body",
        example="mentioning release",
        rank=6,
        meaning=lambda phrase: _has_words(phrase, "subject", "body"),
        pattern=_words_of_text,
    ),
    PhraseKind(
        name="in",
        grammar=("IN NEWSGROUP? words",),
        template="in {words}",
        description="of a newsgroup, such as comp.databases or comp.*",
        example="in comp.databases",
        rank=9,
        meaning=_in_newsgroup,
        pattern=_newsgroup_of,
    ),
    PhraseKind(
        name="in_filter",
        grammar=("IN FILTER words", "IN owner words"),
        template="in filter {words}",
        extension=("owner", "in {owner}'s {words}"),
        description="that another filter finds",
        example="in filter baseball",
        rank=17,
        meaning=_in_filter,
        pattern=None,
    ),
    PhraseKind(
        name="on_list",
        grammar=("ON LIST words",),
        template="on list {words}",
        description="of a mailing list",
        example="on list everyone",
        rank=18,
        meaning=_on_list,
        pattern=_list_of,
    ),
)
