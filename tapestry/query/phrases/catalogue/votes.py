"""Phrases about votes, and about the messages with the most votes or replies (top-k)."""

from __future__ import annotations

from collections.abc import Callable

from tapestry.core.clock import DAY, WEEK
from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.limits import MAX_LIMIT
from tapestry.query.phrases.catalogue.conditions import (
    ago,
    all_of,
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
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind, Slots
from tapestry.query.phrases.catalogue.patterns import (
    amount_of,
    annotation_tests,
    tests_of,
    time_ago,
    user,
)
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
    votes = all_of(_ON_MESSAGE, _IS_VOTE, _sign(op))
    voters = count_distinct("a", "owner", ANNOTATIONS, votes)
    return n.Threshold(voters, ">", whole_number(phrase.amount))


def _score(*tests: n.Condition) -> n.Aggregate:
    """Return the sum of the votes on a message."""
    rows = (n.Binding("a", ANNOTATIONS),)
    votes = all_of(_ON_MESSAGE, _IS_VOTE, *tests)
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


# Patterns


def _voter_of(condition: n.Condition, op: str) -> Slots | None:
    match annotation_tests(condition):
        case [("kind", "=", "vote"), ("number", sign, 0), ("owner", "=", owner)] if sign == op:
            return {"who": user(owner)}
    return None


def _number_of_voters(condition: n.Condition, op: str) -> Slots | None:
    match condition:
        case n.Threshold(n.Aggregate(term=n.Column(_, "owner")) as aggregate, _, constant):
            against = any(
                isinstance(test, n.Compare) and test.op == "<"
                for test in tests_of(aggregate.condition)
            )
            if against == (op == "<"):
                return {"amount": amount_of(constant)}
    return None


def _score_compared(condition: n.Condition, op: str) -> Slots | None:
    match condition:
        case n.Threshold(n.Aggregate(term=n.Column(_, "number")), sign, constant) if sign == op:
            return {"amount": amount_of(constant)}
    return None


def _size_of_top(condition: n.Condition, function: str, length: int | None) -> Slots | None:
    match condition:
        case n.Top(aggregate=n.Aggregate(name) as aggregate, limit=limit) if name == function:
            lengths = [
                time_ago(test.right)
                for test in tests_of(aggregate.condition)
                if isinstance(test, n.Compare) and test.op == ">"
            ]
            if lengths == ([] if length is None else [length]):
                return {"amount": amount_of(limit)}
    return None


def _top_kind(by: str, window: str, length: int | None, description: str, rank: int) -> PhraseKind:
    """Return the phrase for the top by votes or replies, of all time or a recent window."""
    aggregate, function, var = {
        "votes": (_score, "SUM", "a"),
        "replies": (count_replies, "COUNT", "r"),
    }[by]
    spelling = f"among the top {{number}} by {by} {window}".strip()
    counted = {"votes": "score", "replies": "REPLIES"}[by]
    return PhraseKind(
        name="_".join(["top", by, *window.removeprefix("this ").split()]),
        grammar=(f"AMONG THE TOP number BY {counted} {window.upper()}",),
        template=spelling,
        description=description,
        example=spelling.format(number="ten"),
        rank=rank,
        meaning=lambda phrase: _top(phrase, aggregate, var, length),
        pattern=lambda condition: _size_of_top(condition, function, length),
    )


KINDS = (
    PhraseKind(
        name="voted",
        grammar=("VOTED FOR BY who",),
        template="voted for by {who}",
        description="that this person voted for",
        example="voted for by terry",
        rank=7,
        meaning=lambda phrase: _voted(phrase, ">"),
        pattern=lambda condition: _voter_of(condition, ">"),
    ),
    PhraseKind(
        name="voted_against",
        grammar=("VOTED AGAINST BY who",),
        template="voted against by {who}",
        description="that this person voted against",
        example="voted against by terry",
        rank=34,
        meaning=lambda phrase: _voted(phrase, "<"),
        pattern=lambda condition: _voter_of(condition, "<"),
    ),
    PhraseKind(
        name="more_votes",
        grammar=("VOTED FOR BY MORE THAN number (PEOPLE | PERSON)",),
        template="voted for by more than {number} {people}",
        description="that more people than this voted for",
        example="voted for by more than five people",
        rank=23,
        meaning=lambda phrase: _voters(phrase, ">"),
        pattern=lambda condition: _number_of_voters(condition, ">"),
    ),
    PhraseKind(
        name="more_against",
        grammar=("VOTED AGAINST BY MORE THAN number (PEOPLE | PERSON)",),
        template="voted against by more than {number} {people}",
        description="that more people than this voted against",
        example="voted against by more than three people",
        rank=35,
        meaning=lambda phrase: _voters(phrase, "<"),
        pattern=lambda condition: _number_of_voters(condition, "<"),
    ),
    PhraseKind(
        name="score_above",
        grammar=("WITH A SCORE ABOVE number",),
        template="with a score above {number}",
        description="with more votes for them than against, by more than this",
        example="with a score above three",
        rank=27,
        meaning=lambda phrase: n.Threshold(_score(), ">", number(phrase.amount)),
        pattern=lambda condition: _score_compared(condition, ">"),
    ),
    PhraseKind(
        name="score_below",
        grammar=("WITH A SCORE BELOW number",),
        template="with a score below {number}",
        description="with a lower score than this",
        example="with a score below three",
        rank=36,
        meaning=lambda phrase: n.Threshold(_score(), "<", number(phrase.amount)),
        pattern=lambda condition: _score_compared(condition, "<"),
    ),
    _top_kind("votes", "", None, "those with the highest score", 8),
    _top_kind("votes", "today", DAY, "those with the highest score, of the last day's votes", 37),
    _top_kind("votes", "this week", WEEK, "those with the highest score, of this week's votes", 25),
    _top_kind("replies", "", None, "those answered most", 26),
    _top_kind("replies", "today", DAY, "those answered most within the last day", 39),
    _top_kind("replies", "this week", WEEK, "those answered most this week", 38),
)
