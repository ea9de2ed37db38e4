"""Top tens by people who agree with one, against top tens by anybody, of people of known tastes.

Each person likes some topics, each message is of one; votes go by taste, with mistakes, and most
of them to few messages.  Of what each has not voted on, ten messages are recommended: those with
the most votes for them, by anybody or by those with whom one has three votes in common, of which
more than 70 % are alike.  Right is what they like.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import numpy as np

from tapestry.core.agreement import MIN_IN_COMMON, SHARE
from tests.bench.support.timing import timed

SUMMARY = "precision of the top ten by people who agree, against votes by anybody"

FIGURES = {
    "top ten by anybody's votes, {people:,} people: what one likes": "{anybody:.0f} %",
    "top ten by people who agree, {people:,} people: what one likes": "{agreeing:.0f} %",
}

_Matrix = np.ndarray[Any, Any]

TOP = 10
LIKED = 2
"""Topics that each person likes."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--votes", type=int, default=40, help="of each person")
    parser.add_argument("--mistakes", type=float, default=0.1, help="share of votes against taste")
    parser.add_argument("--asked", type=int, default=300, help="people for whom tops are made")
    parser.add_argument("--seed", type=int, default=1)


def measure(options: dict[str, Any]) -> dict[str, float | int]:
    """Return the precision of both tops in percent, and the seconds that it took."""
    lots = np.random.default_rng(options["seed"])
    people, messages = options["people"], options["messages"]
    topic = lots.integers(options["topics"], size=messages)
    tastes = np.argsort(lots.random((people, options["topics"])))[:, :LIKED]
    likes = (topic[None, :, None] == tastes[:, None, :]).any(axis=2)
    votes = _votes(lots, likes, options["votes"], options["mistakes"])
    asked = lots.choice(people, min(options["asked"], people), replace=False)
    seconds, (anybody, agreeing, colleagues) = timed(lambda: _tops(votes, likes, asked))
    return {
        "people": people,
        "messages": messages,
        "anybody": 100 * anybody,
        "agreeing": 100 * agreeing,
        "by_chance": 100 * float(likes.mean()),
        "colleagues": colleagues,
        "seconds": round(seconds, 1),
    }


def _votes(lots: np.random.Generator, likes: _Matrix, each: int, mistakes: float) -> _Matrix:
    """Return a matrix of votes, 1, -1 or 0; messages are looked at by their rank, as news are."""
    people, messages = likes.shape
    weight = 1 / np.sqrt(np.arange(1, messages + 1))
    weight /= weight.sum()
    votes = np.zeros((people, messages), dtype=np.int8)
    for person in range(people):
        seen = lots.choice(messages, each, replace=False, p=weight)
        wrong = lots.random(each) < mistakes
        votes[person, seen] = np.where(likes[person, seen] ^ wrong, 1, -1)
    return votes


def _tops(votes: _Matrix, likes: _Matrix, asked: _Matrix) -> tuple[float, float, float]:
    """Return the precision of the tops by anybody and by those who agree, and how many these are.

    Where fewer than ten messages have a vote by those who agree, the missing ones are not right.
    """
    given = votes != 0
    number = votes.astype(np.float32)
    for_it = (votes > 0).astype(np.float32)
    score = for_it.sum(axis=0)
    known = given.astype(np.float32)
    right_anybody = right_agreeing = colleagues = 0
    for person in asked:
        in_common = known @ known[person]
        product = number @ number[person]
        alike = (product + in_common) / 2
        agrees = (in_common >= MIN_IN_COMMON) & (alike > SHARE * in_common)
        agrees[person] = False
        colleagues += int(agrees.sum())
        open_ = ~given[person]
        by_agreeing = for_it[agrees].sum(axis=0)
        right_anybody += _right(score, open_, likes[person])
        right_agreeing += _right(by_agreeing, open_, likes[person])
    total = TOP * len(asked)
    return right_anybody / total, right_agreeing / total, colleagues / len(asked)


def _right(score: _Matrix, open_: _Matrix, likes: _Matrix) -> int:
    masked = np.where(open_, score, -1)
    top = np.argpartition(-masked, TOP)[:TOP]
    return int((likes[top] & (masked[top] > 0)).sum())
