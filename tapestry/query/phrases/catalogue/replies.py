"""Phrases about a message that replies, and about the replies to it."""

from __future__ import annotations

from tapestry.core.schema import MESSAGES
from tapestry.query.phrases.catalogue.conditions import (
    ago,
    column,
    count_replies,
    equal,
    length,
    sender_is,
    whole_number,
)
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE

_HAS_PARENT = n.Not(n.IsNull(column("inreplyto")))


def _has_reply(*tests: n.Condition) -> n.Condition:
    reply = equal(column("inreplyto", "r"), column("msgid"))
    return n.Exists((n.Binding("r", MESSAGES),), n.And.of((reply, *tests)))


def _sender_is(phrase: PhraseInContext, var: str) -> n.Condition:
    return sender_is(var, phrase.who, phrase.context)


def _parent_is_by(phrase: PhraseInContext) -> n.Condition:
    parent = equal(column("msgid", "p"), column("inreplyto"))
    return n.Exists((n.Binding("p", MESSAGES),), n.And.of((parent, _sender_is(phrase, "p"))))


def _count_is(phrase: PhraseInContext, op: str) -> n.Condition:
    return n.Threshold(count_replies(), op, whole_number(phrase.amount))


def _no_recent_reply(phrase: PhraseInContext) -> n.Condition:
    recent = n.Compare(">", column("ts", "r"), ago(length(phrase.amount)))
    old = n.Compare("<=", column("ts"), ago(length(phrase.amount)))
    return n.And((n.Not(_has_reply(recent)), old))


KINDS = (
    PhraseKind(
        name="replies",
        spelling="replies",
        description="that answer another message",
        rank=4,
        meaning=lambda _: _HAS_PARENT,
    ),
    PhraseKind(
        name="replies_by",
        spelling="replies by {who:Jones}",
        description="that this person wrote in answer to somebody",
        rank=11,
        meaning=lambda phrase: n.And((_HAS_PARENT, _sender_is(phrase, MESSAGE))),
    ),
    PhraseKind(
        name="replies_to",
        spelling="replies to {who:Jones}",
        description="that answer this person",
        rank=12,
        meaning=_parent_is_by,
    ),
    PhraseKind(
        name="replied",
        spelling="replied to",
        description="that have been answered",
        rank=13,
        meaning=lambda _: _has_reply(),
    ),
    PhraseKind(
        name="replied_by",
        spelling="replied to by {who:Jones}",
        description="that this person has answered",
        rank=14,
        meaning=lambda phrase: _has_reply(_sender_is(phrase, "r")),
    ),
    PhraseKind(
        name="more_replies",
        spelling="with more than {number:three} {replies}",
        description="answered more often than this",
        rank=24,
        meaning=lambda phrase: _count_is(phrase, ">"),
    ),
    PhraseKind(
        name="least_replies",
        spelling="with at least {number:three} {replies}",
        description="answered so often, or more",
        rank=28,
        meaning=lambda phrase: _count_is(phrase, ">="),
    ),
    PhraseKind(
        name="fewer_replies",
        spelling="with fewer than {number:three} {replies}",
        description="answered less often than this",
        rank=29,
        meaning=lambda phrase: _count_is(phrase, "<"),
    ),
    PhraseKind(
        name="unanswered",
        spelling="with no reply",
        description="that nobody has answered",
        rank=3,
        meaning=lambda _: n.Not(_has_reply()),
        others=("WITH NO REPLIES", "UNANSWERED"),
    ),
    PhraseKind(
        name="unanswered_by",
        spelling="with no reply by {who:Jones}",
        description="that this person has not answered",
        rank=21,
        meaning=lambda phrase: n.Not(_has_reply(_sender_is(phrase, "r"))),
        others=("WITH NO REPLIES BY who",),
    ),
    PhraseKind(
        name="unanswered_for",
        spelling="with no reply for {age:two weeks}",
        description="at least so old, and not answered of late",
        rank=22,
        meaning=_no_recent_reply,
        others=("WITH NO REPLIES FOR age",),
    ),
)
