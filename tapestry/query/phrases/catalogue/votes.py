"""Phrases about votes, and about the messages with the most votes or replies (top-k)."""

from __future__ import annotations

from collections.abc import Callable

from tapestry.core.clock import DAY, WEEK
from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.limits import MAX_LIMIT
from tapestry.query.phrases.catalogue.conditions import (
    ago,
    annotated,
    column,
    count_distinct,
    count_replies,
    equal,
    number,
    text,
    user_name,
    whole_number,
)
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE

_IS_VOTE = equal(column("kind", "a"), text("vote"))
_ON_MESSAGE = equal(column("msgid", "a"), column("msgid"))


def _sign(op: str) -> n.Condition:
    return n.Compare(op, column("number", "a"), n.Literal(0, Type.INTEGER))


def _voted(phrase: PhraseInContext, op: str) -> n.Condition:
    voter = equal(column("owner", "a"), user_name(phrase.who, phrase.context))
    return annotated(_IS_VOTE, _sign(op), voter)


def _voters(phrase: PhraseInContext, op: str) -> n.Condition:
    votes = n.And((_ON_MESSAGE, _IS_VOTE, _sign(op)))
    voters = count_distinct("a", "owner", ANNOTATIONS, votes)
    return n.Threshold(voters, ">", whole_number(phrase.amount))


def _score(*tests: n.Condition) -> n.Aggregate:
    """Return the sum of the votes on a message."""
    rows = (n.Binding("a", ANNOTATIONS),)
    votes = n.And((_ON_MESSAGE, _IS_VOTE, *tests))
    return n.Aggregate("SUM", False, column("number", "a"), rows, votes)


def _top(
    phrase: PhraseInContext, by: Callable[..., n.Aggregate], var: str, length: int | None
) -> n.Condition:
    """Return that the message is among the first N, by rows no older than a length."""
    amount = phrase.amount
    if not 0 < amount.value <= MAX_LIMIT:
        raise TapestryError(
            f"A top has from 1 to {MAX_LIMIT:,} messages.", amount.span, "Write 10."
        )
    recent = []
    if length is not None:
        begin = ago(n.Literal(length, Type.DURATION))
        recent.append(n.Compare(">", column("ts", var), begin))
    ranked = n.Binding(MESSAGE, MESSAGES)
    return n.Top(column("msgid"), whole_number(amount), ranked, by(*recent), n.Truth(True))


def _top_kind(by: str, window: str, length: int | None, description: str, rank: int) -> PhraseKind:
    """Return the phrase for the top by votes or replies, of all time or a recent window."""
    aggregate, var = {"votes": (_score, "a"), "replies": (count_replies, "r")}[by]
    return PhraseKind(
        name="_".join(["top", by, *window.removeprefix("this ").split()]),
        spelling=f"among the top {{number:ten}} by {by} {window}".strip(),
        description=description,
        rank=rank,
        meaning=lambda phrase: _top(phrase, aggregate, var, length),
        others=(f"AMONG THE TOP number BY SCORE {window.upper()}",) if by == "votes" else (),
    )


KINDS = (
    PhraseKind(
        name="voted",
        spelling="voted for by {who:terry}",
        description="that this person voted for",
        rank=7,
        meaning=lambda phrase: _voted(phrase, ">"),
    ),
    PhraseKind(
        name="voted_against",
        spelling="voted against by {who:terry}",
        description="that this person voted against",
        rank=34,
        meaning=lambda phrase: _voted(phrase, "<"),
    ),
    PhraseKind(
        name="more_votes",
        spelling="voted for by more than {number:five} {people}",
        description="that more people than this voted for",
        rank=23,
        meaning=lambda phrase: _voters(phrase, ">"),
    ),
    PhraseKind(
        name="more_against",
        spelling="voted against by more than {number:three} {people}",
        description="that more people than this voted against",
        rank=35,
        meaning=lambda phrase: _voters(phrase, "<"),
    ),
    PhraseKind(
        name="score_above",
        spelling="with a score above {number:three}",
        description="with more votes for them than against, by more than this",
        rank=27,
        meaning=lambda phrase: n.Threshold(_score(), ">", number(phrase.amount)),
    ),
    PhraseKind(
        name="score_below",
        spelling="with a score below {number:three}",
        description="with a lower score than this",
        rank=36,
        meaning=lambda phrase: n.Threshold(_score(), "<", number(phrase.amount)),
    ),
    _top_kind("votes", "", None, "those with the highest score", 8),
    _top_kind("votes", "today", DAY, "those with the highest score, of the last day's votes", 37),
    _top_kind("votes", "this week", WEEK, "those with the highest score, of this week's votes", 25),
    _top_kind("replies", "", None, "those answered most", 26),
    _top_kind("replies", "today", DAY, "those answered most within the last day", 39),
    _top_kind("replies", "this week", WEEK, "those answered most this week", 38),
)
