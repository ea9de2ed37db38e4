"""Phrases about the words of a message, and where it was posted."""

from __future__ import annotations

from tapestry.core.schema import Type
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import (
    ME,
    addresses_of_me,
    column,
    equal,
    escape,
    like,
    text,
)
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import NOWHERE, Phrase, Words
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE


def _has_words(words: Words, *columns: str) -> n.Condition:
    value = text(words.text, words.span)
    return n.Or.of([n.Has(column(name), value) for name in columns])


def in_newsgroup(words: Words) -> n.Condition:
    """Return that the message is of a newsgroup, or of those whose names begin so."""
    group, span = words.text.lower(), words.span
    if group.endswith(".*"):
        return n.Like(column("newsgroups"), text(escape(group[:-1]) + "%", span))
    return equal(column("newsgroups"), text(group, span))


def _in_filter(phrase: Phrase) -> n.Condition:
    owner = phrase.owner.text or None
    return n.InFilter(MESSAGE, owner, phrase.words.text, span=phrase.span)


def _names_me(context: Context) -> n.Condition:
    named = [person.text for person in addresses_of_me(ME, context)]
    named += [context.owner] if context.owner else []
    return n.Or.of([_has_words(Words(name, NOWHERE), "subject", "body") for name in named])


def _is_blank(name: str) -> n.Condition:
    trimmed = n.Call("trim", (column(name),))
    return equal(n.Call("coalesce", (trimmed, text(""))), text(""))


def _contains(sign: str, name: str) -> n.Condition:
    return n.Like(column(name), text(f"%{escape(sign)}%"))


def _on_list(name: Words) -> n.Condition:
    return n.Like(column("list"), text(escape(name.text.lower()) + "%", name.span))


KINDS = (
    PhraseKind(
        spelling="everything",
        description="all of them",
        rank=77,
        meaning=lambda *_: n.Truth(True),
    ),
    PhraseKind(
        spelling="about {words:release}",
        description="with these words in the subject",
        rank=1,
        meaning=lambda phrase, _: _has_words(phrase.words, "subject"),
        others=(
            "WITH? SUBJECT CONTAINING? words",
            "WITH? SUBJECT CONTAINING THE_TEXT words",
            "in_subject",
        ),
    ),
    PhraseKind(
        spelling="mentioning {words:release}",
        description="with these words in subject or body",
        rank=5,
        meaning=lambda phrase, _: _has_words(phrase.words, "subject", "body"),
        others=(
            "CONTAINING words",
            "(CONTAINING | MENTIONING) THE_TEXT words",
            "WITH THE THE_WORD words",
        ),
    ),
    PhraseKind(
        spelling="mentioning me",
        description="with your name or one of your addresses in subject or body",
        rank=51,
        meaning=lambda _, context: _names_me(context),
    ),
    PhraseKind(
        spelling="without a subject",
        description="with nothing in the subject",
        rank=52,
        meaning=lambda *_: _is_blank("subject"),
        others=("WITH NO SUBJECT", "HAS NO SUBJECT"),
    ),
    PhraseKind(
        spelling="without a body",
        description="with nothing in the body",
        rank=75,
        meaning=lambda *_: _is_blank("body"),
        others=("WITH NO BODY", "HAS NO BODY"),
    ),
    PhraseKind(
        spelling="with a subject starting with {words:Order}",
        description="of which the subject begins so",
        rank=58,
        meaning=lambda phrase, _: n.Like(
            column("subject"), text(escape(phrase.words.text) + "%", phrase.words.span)
        ),
    ),
    PhraseKind(
        spelling="with a subject like {words:*report*}",
        description="of which the subject has this form, with * for any text and ? for a character",
        rank=73,
        meaning=lambda phrase, _: like("subject", phrase.words),
    ),
    PhraseKind(
        spelling="with a body like {words:*report*}",
        description="of which the body has this form",
        rank=74,
        meaning=lambda phrase, _: like("body", phrase.words),
    ),
    PhraseKind(
        spelling="asking a question",
        description="with a question in words of its own, not in a quote",
        rank=59,
        meaning=lambda *_: n.Compare(">", column("questions"), n.Literal(0, Type.INTEGER)),
    ),
    PhraseKind(
        spelling="with links",
        description="with an address of the web in the body",
        rank=60,
        meaning=lambda *_: n.Or((_contains("http://", "body"), _contains("https://", "body"))),
    ),
    PhraseKind(
        spelling="saying {words:release}",
        description="with these words in the body",
        rank=47,
        meaning=lambda phrase, _: _has_words(phrase.words, "body"),
        others=("WITH? BODY CONTAINING? words", "WITH? BODY CONTAINING THE_TEXT words"),
    ),
    PhraseKind(
        spelling="in {words:comp.databases}",
        description="of a newsgroup, such as comp.databases or comp.*",
        rank=8,
        meaning=lambda phrase, _: in_newsgroup(phrase.words),
    ),
    PhraseKind(
        spelling="in newsgroup {words:zoo}",
        description="of a newsgroup, also one without a dot in its name",
        rank=50,
        meaning=lambda phrase, _: in_newsgroup(phrase.words),
    ),
    PhraseKind(
        spelling="in any newsgroup",
        description="of some newsgroup",
        rank=62,
        meaning=lambda *_: n.Like(column("newsgroups"), text("%")),
    ),
    PhraseKind(
        spelling="in filter {words:baseball}",
        description="that another filter finds",
        rank=16,
        meaning=lambda phrase, _: _in_filter(phrase),
        extension=("owner", "in {owner}'s {words}"),
    ),
    PhraseKind(
        spelling="on list {words:everyone}",
        description="of a mailing list",
        rank=17,
        meaning=lambda phrase, _: _on_list(phrase.words),
        others=("ON the_list",),
        listed="or",
    ),
    PhraseKind(
        spelling="on any list",
        description="of some mailing list",
        rank=48,
        meaning=lambda *_: n.Not(n.IsNull(column("list"))),
    ),
    PhraseKind(
        spelling="identified by {words:1234@x.org}",
        description="with this Message-ID",
        rank=49,
        meaning=lambda phrase, _: equal(
            column("msgid"), text(phrase.words.text, phrase.words.span)
        ),
        listed="or",
    ),
)
