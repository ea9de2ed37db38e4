"""Phrases about people whose votes have been like one's own."""

from __future__ import annotations

from tapestry.core.agreement import SHARE
from tapestry.core.schema import ANNOTATIONS, Type
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue import conditions as c
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Phrase
from tapestry.query.tree import nodes as n


def _by_those_who_agree(phrase: Phrase, context: Context) -> tuple[n.Condition, ...]:
    """Return the tests that ``a`` is a vote for the message, by somebody who agrees with one."""
    owner, me = c.column("owner", "a"), n.Column("", "me", span=phrase.span)
    tests: list[n.Condition] = [
        c.equal(c.column("kind", "a"), c.text("vote")),
        n.Compare(">", c.column("number", "a"), n.Literal(0, Type.INTEGER)),
    ]
    if context.left_out:
        people = n.Call("list", tuple(map(c.text, context.left_out)))
        tests.append(n.Not(n.Compare("IN", owner, people)))
    return (*tests, n.Agreement(owner, me, ">", n.Literal(SHARE, Type.NUMBER), span=phrase.span))


def _many(phrase: Phrase, context: Context) -> n.Condition:
    on_message = c.equal(c.column("msgid", "a"), c.column("msgid"))
    votes = n.And((on_message, *_by_those_who_agree(phrase, context)))
    people = c.count_distinct("a", "owner", ANNOTATIONS, votes)
    return n.Threshold(people, ">", c.whole_number(phrase.amount))


KINDS = (
    PhraseKind(
        spelling="voted for by people who agree with me",
        description="that somebody voted for who has mostly voted as you did",
        rank=72,
        meaning=lambda phrase, context: c.annotated(*_by_those_who_agree(phrase, context)),
        others=("LIKED BY PEOPLE LIKE ME",),
    ),
    PhraseKind(
        spelling="liked by more than {number:three} {people} like me",
        description="that more people than this voted for who have mostly voted as you did",
        rank=73,
        meaning=_many,
        others=("VOTED FOR BY MORE THAN number PEOPLE WHO AGREE WITH ME",),
    ),
)
