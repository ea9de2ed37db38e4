"""Phrases about a message that replies, and about the replies to it."""

from __future__ import annotations

from tapestry.core.schema import MESSAGES
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue import conditions as c
from tapestry.query.phrases.catalogue.counts import counted
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Phrase
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE

_HAS_PARENT = n.Not(n.IsNull(c.column("inreplyto")))


def _has_reply(*tests: n.Condition) -> n.Condition:
    reply = c.equal(c.column("inreplyto", "r"), c.column("msgid"))
    return n.Exists((n.Binding("r", MESSAGES),), n.And.of((reply, *tests)))


def _parent_is_by(phrase: Phrase, context: Context) -> n.Condition:
    parent = c.equal(c.column("msgid", "p"), c.column("inreplyto"))
    return n.Exists(
        (n.Binding("p", MESSAGES),), n.And.of((parent, c.sender_is("p", phrase.person, context)))
    )


def _parent_has(phrase: Phrase, *columns: str) -> n.Condition:
    """Return that what a message answers has words in one of its columns."""
    parent = c.equal(c.column("msgid", "p"), c.column("inreplyto"))
    words = c.text(phrase.words.text, phrase.words.span)
    has = n.Or.of([n.Has(c.column(name, "p"), words) for name in columns])
    return n.Exists((n.Binding("p", MESSAGES),), n.And.of((parent, has)))


def _no_recent_reply(phrase: Phrase) -> n.Condition:
    recent = n.Compare(">", c.column("received", "r"), c.ago(c.length(phrase.amount)))
    old = n.Compare("<=", c.column("received"), c.ago(c.length(phrase.amount)))
    return n.And((n.Not(_has_reply(recent)), old))


def _often_by(phrase: Phrase, context: Context) -> n.Condition:
    by = c.sender_is("r", phrase.person, context)
    return n.Threshold(c.count_replies(by), ">=", c.whole_number(phrase.amount))


def _answered_in_person(context: Context, *, by_me: bool) -> n.Condition:
    mine = c.sender_is("r", c.ME, context)
    return _has_reply(mine if by_me else n.Not(mine), n.IsNull(c.column("automatic", "r")))


_NO_REPLIES = (
    "WITH NO REPLIES",
    "HAS NO (REPLY | REPLIES)",
    "BARE_NO (REPLY | REPLIES)",
    "WITHOUT (A | AN | ANY)? (REPLY | REPLIES)",
    "UNANSWERED",
)

KINDS = (
    PhraseKind(
        spelling="replies",
        description="that answer another message",
        rank=3,
        meaning=lambda *_: _HAS_PARENT,
    ),
    PhraseKind(
        spelling="replies by {person:Jones}",
        description="that this person wrote in answer to somebody",
        rank=10,
        meaning=lambda phrase, context: n.And(
            (_HAS_PARENT, c.sender_is(MESSAGE, phrase.person, context))
        ),
        listed="or",
    ),
    PhraseKind(
        spelling="replies to {person:Jones}",
        description="that answer this person",
        rank=11,
        meaning=_parent_is_by,
        listed="or",
    ),
    PhraseKind(
        spelling="replies to a message about {words:release}",
        description="that answer a message with these words in its subject",
        rank=79,
        meaning=lambda phrase, _: _parent_has(phrase, "subject"),
    ),
    PhraseKind(
        spelling="replies to a message mentioning {words:release}",
        description="that answer a message with these words in subject or body",
        rank=79,
        meaning=lambda phrase, _: _parent_has(phrase, "subject", "body"),
    ),
    PhraseKind(
        spelling="replied to",
        description="that have been answered",
        rank=12,
        meaning=lambda *_: _has_reply(),
        others=("ANSWERED",),
    ),
    PhraseKind(
        spelling="replied to by {person:Jones}",
        description="that this person has answered",
        rank=13,
        meaning=lambda phrase, context: _has_reply(c.sender_is("r", phrase.person, context)),
        others=("ANSWERED BY person",),
    ),
    *counted(
        "replies",
        lambda op, count: n.Threshold(c.count_replies(), op, count),
        more=(23, "answered more often than this"),
        least=(27, "answered so often, or more"),
        fewer=(28, "answered less often than this"),
    ),
    PhraseKind(
        spelling="with at least {number:two} {replies} by {person:Jones}",
        description="that this person answered so often, or more",
        rank=89,
        meaning=_often_by,
    ),
    PhraseKind(
        spelling="with no reply",
        description="that nobody has answered",
        rank=2,
        meaning=lambda *_: n.Not(_has_reply()),
        others=(*_NO_REPLIES, "NOBODY HAS? (REPLIED TO? | ANSWERED)"),
    ),
    PhraseKind(
        spelling="with no reply by {person:Jones}",
        description="that this person has not answered",
        rank=20,
        meaning=lambda phrase, context: n.Not(_has_reply(c.sender_is("r", phrase.person, context))),
        others=(
            *[f"{spelling} BY person" for spelling in _NO_REPLIES],
            *[f"{spelling} FROM person" for spelling in ("WITH NO REPLY", *_NO_REPLIES[:-1])],
            "myself HAS NOT (REPLIED TO | ANSWERED)",
        ),
        listed="and",
    ),
    PhraseKind(
        spelling="unanswered by others",
        description="that nobody but you has answered, but for automatic replies",
        rank=57,
        meaning=lambda _, context: n.Not(_answered_in_person(context, by_me=False)),
    ),
    PhraseKind(
        spelling="unanswered by me personally",
        description="that you have not answered, but for automatic replies of yours",
        rank=60,
        meaning=lambda _, context: n.Not(_answered_in_person(context, by_me=True)),
    ),
    PhraseKind(
        spelling="with no reply for {age:two weeks}",
        description="at least so old, and not answered of late",
        rank=21,
        meaning=lambda phrase, _: _no_recent_reply(phrase),
        others=tuple([f"{spelling} FOR age" for spelling in _NO_REPLIES]),
    ),
)
