"""Phrases about votes, and about the messages with the most votes or replies (top-k)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tapestry.core.clock import DAY, WEEK
from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue import conditions as c
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Person, Phrase
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE

_IS_VOTE = c.equal(c.column("kind", "a"), c.text("vote"))
_ON_MESSAGE = c.equal(c.column("msgid", "a"), c.column("msgid"))

VOTES = n.And((_ON_MESSAGE, _IS_VOTE))
"""That ``a`` is a vote on the message."""

_MONTH = 30 * DAY


def sign(op: str) -> n.Condition:
    return n.Compare(op, c.column("number", "a"), n.Literal(0, Type.INTEGER))


def _voted(person: Person, op: str, context: Context) -> n.Condition:
    return c.annotated(_IS_VOTE, sign(op), c.annotator_is(person, context))


def _voters(phrase: Phrase, op: str) -> n.Condition:
    votes = n.And((*VOTES.args, sign(op)))
    voters = c.count_distinct("a", "owner", ANNOTATIONS, votes)
    return n.Threshold(voters, ">", c.whole_number(phrase.amount))


def _score(*tests: n.Condition) -> n.Aggregate:
    """Return the sum of the votes on a message."""
    rows = (n.Binding("a", ANNOTATIONS),)
    votes = n.And((*VOTES.args, *tests))
    return n.Aggregate("SUM", False, c.column("number", "a"), rows, votes)


def _latest(phrase: Phrase) -> n.Condition:
    """Return that the average of the last ten votes on the message is above a number."""
    last = n.Among(n.Literal(10, Type.INTEGER), n.Truth(True))
    average = replace(_score(), function="AVG", among=last)
    return n.Threshold(average, ">", c.number(phrase.amount))


def _top(
    phrase: Phrase, by: Callable[..., n.Aggregate], var: str, length: int | None
) -> n.Condition:
    """Return that the message is among the first N, by rows no older than a length."""
    recent = []
    if length is not None:
        begin = c.ago(n.Literal(length, Type.DURATION))
        instant = c.column("received" if var == "r" else "ts", var)
        recent.append(n.Compare(">", instant, begin))
    ranked = n.Binding(MESSAGE, MESSAGES)
    return n.Top(c.column("msgid"), c.limit(phrase.amount), ranked, by(*recent), n.Truth(True))


def _top_kind(by: str, window: str, length: int | None, rank: int, description: str) -> PhraseKind:
    """Return the phrase for the top by votes or replies, of all time or a recent window."""
    aggregate, var = {"votes": (_score, "a"), "replies": (c.count_replies, "r")}[by]
    return PhraseKind(
        spelling=f"among the top {{number:ten}} by {by} {window}".strip(),
        description=description,
        rank=rank,
        meaning=lambda phrase, _: _top(phrase, aggregate, var, length),
        others=(
            f"BARE_TOP number BY {by.upper()} {window.upper()}",
            *(
                [f"{top} number BY SCORE {window.upper()}" for top in ("AMONG THE TOP", "BARE_TOP")]
                if by == "votes"
                else ()
            ),
        ),
    )


KINDS = (
    PhraseKind(
        spelling="voted for by {person:terry}",
        description="that this person voted for",
        rank=6,
        meaning=lambda phrase, context: _voted(phrase.person, ">", context),
    ),
    PhraseKind(
        spelling="voted against by {person:terry}",
        description="that this person voted against",
        rank=33,
        meaning=lambda phrase, context: _voted(phrase.person, "<", context),
    ),
    PhraseKind(
        spelling="voted for by more than {number:five} {people}",
        description="that more people than this voted for",
        rank=22,
        meaning=lambda phrase, _: _voters(phrase, ">"),
    ),
    PhraseKind(
        spelling="voted against by more than {number:three} {people}",
        description="that more people than this voted against",
        rank=34,
        meaning=lambda phrase, _: _voters(phrase, "<"),
    ),
    PhraseKind(
        spelling="with a score above {number:three}",
        description="with more votes for them than against, by more than this",
        rank=26,
        meaning=lambda phrase, _: n.Threshold(_score(), ">", c.number(phrase.amount)),
    ),
    PhraseKind(
        spelling="with latest votes averaging above {number:three}",
        description="whose last ten votes have a higher average than this",
        rank=74,
        meaning=lambda phrase, _: _latest(phrase),
    ),
    PhraseKind(
        spelling="with a score below {number:three}",
        description="with a lower score than this",
        rank=35,
        meaning=lambda phrase, _: n.Threshold(_score(), "<", c.number(phrase.amount)),
    ),
    _top_kind("votes", "", None, 7, "those with the highest score"),
    _top_kind("votes", "today", DAY, 36, "those with the highest score, of the last day's votes"),
    _top_kind("votes", "this week", WEEK, 24, "those with the highest score, of this week's votes"),
    _top_kind("votes", "this month", _MONTH, 80, "those with the highest score, of 30 days' votes"),
    _top_kind("replies", "", None, 25, "those answered most"),
    _top_kind("replies", "today", DAY, 38, "those answered most within the last day"),
    _top_kind("replies", "this week", WEEK, 37, "those answered most this week"),
    _top_kind("replies", "this month", _MONTH, 81, "those answered most within 30 days"),
)
