"""Filters of nine kinds, and the mail and votes of rounds that concern some of them.

    number ─> kind, ranks (Zipf) ─> values ─> phrase, TQL, entries of the index
    round  ─> letters, votes, and which messages each hot value finds

The first HOT values of every kind are hot: each occurs in one or two letters or votes of every
round.  All other values are cold: no row has them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from tapestry.core.clock import HOUR, MINUTE, WEEK
from tapestry.core.message import Annotation, Message
from tests.bench.support import mail

HOT = 16
STEP = 10 * MINUTE
"""Between the ends of two rounds."""

QUIET = 100
"""Weeks before the archive in which only the messages that hot ages find were written."""

BLOCK = 9000
"""Filters whose values are drawn together."""

COPIES = [(rank, copy) for rank in range(HOT) for copy in range(2 if rank % 2 == 0 else 1)]
"""The occurrences of a kind's hot values in a round: two of every other rank."""

LEAST = 4 * len(COPIES)
"""Letters of the smallest round: those that hot filters find."""


KINDS = {
    "sender": ("from {0}", 100_000),
    "word": ("about {0}", 100_000),
    "group": ("in {0}", 20_000),
    "groups": ("in {0}.*", 5_000),
    "replied": ("replied to by {0}", 100_000),
    "replies": ("replies to {0}", 100_000),
    "age": ("older than {0} weeks with no reply", 500),
    "votes": ("voted for by more than {0} people", 500),
    "pair": ("from {0} about {1}", 100_000),
}
"""Of each signature, the phrase, and how many values there are: names, words, newsgroups.

No other mail has these values.
"""

NAMES = list(KINDS)
_SENDERS = ("sender", "replied", "replies", "pair")
"""Kinds whose letters are from somebody of their own."""

_SYLLABLES = [c + v for c in "bdfghklmnprstvz" for v in "aeiou"]


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """What a filter asks, by its number: its kind, the rank of its value, and its values."""

    number: int
    kind: str
    rank: int
    values: tuple[str, ...]

    @property
    def phrase(self) -> str:
        """Return the filter's text."""
        return KINDS[self.kind][0].format(*self.values)


def filter_specs(low: int, high: int, hot: int, weeks: int) -> Iterator[FilterSpec]:
    """Yield the filters with numbers from ``low`` to ``high``; those below ``hot`` have hot values.

    ``weeks`` is the age of the archive, in weeks, below which no age is chosen.
    """
    for number in range(low, high):
        kind = NAMES[number % len(KINDS)]
        cold, warm = _ranks(number // BLOCK)
        place = number % BLOCK
        rank = int(warm[place]) if number < hot else HOT + int(cold[kind][place])
        yield FilterSpec(number, kind, rank, values(kind, rank, weeks))


@lru_cache(maxsize=4)
def _ranks(block: int) -> tuple[dict[str, np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Return the ranks of the filters of a block: cold ones for each kind, and hot ones."""
    chance = np.random.default_rng([7, block])
    cold = {kind: _zipf(chance, count - HOT, BLOCK) for kind, (_, count) in KINDS.items()}
    return cold, _zipf(chance, HOT, BLOCK)


def values(kind: str, rank: int, weeks: int) -> tuple[str, ...]:
    """Return the values of a rank: names, words or a number.

    >>> values("sender", 3, 38) != values("word", 3, 38), values("votes", 3, 38)
    (True, ('4',))
    """
    word = _word(NAMES.index(kind), rank)
    match kind:
        case "group" | "groups":
            return (f"alt.{word}",)
        case "age":
            return (str(weeks + 10 + rank + (QUIET if rank >= HOT else 0)),)
        case "votes":
            return (str(1 + rank + (1000 if rank >= HOT else 0)),)
        case "pair":
            return (word, _word(len(KINDS), rank))
    return (word,)


def _word(series: int, rank: int) -> str:
    """Return a word that no other series, rank or mail has."""
    number, text = series * 1_000_000 + rank, "x"
    for _ in range(4):
        number, place = divmod(number, len(_SYLLABLES))
        text += _SYLLABLES[place]
    return text


def _zipf(chance: np.random.Generator, count: int, size: int) -> np.ndarray[Any, Any]:
    """Return ranks below ``count``, each chosen in proportion to 1 / (rank + 1)."""
    sums = np.cumsum(1 / np.arange(1, count + 1))
    ranks = np.searchsorted(sums, chance.random(size) * sums[-1], side="right")
    return np.asarray(ranks)


@dataclass(slots=True)
class Round:
    """The new letters and votes of a round, and what each hot (kind, rank) must find."""

    letters: list[Message] = field(default_factory=list)
    votes: list[Annotation] = field(default_factory=list)
    expected: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))


@dataclass(frozen=True, slots=True)
class Workload:
    """An archive of ``archive`` messages, and before it the messages that hot ages find."""

    archive: int
    rounds: int

    @property
    def weeks(self) -> int:
        """Return the age of the archive when the rounds begin."""
        return (self.begin - mail.BEGIN) // WEEK + 1

    @property
    def least(self) -> int:
        """Return how many messages the archive must have: every round takes some of its own."""
        return 2 * (mail.NEAR + 4 * HOT * self.rounds)

    @property
    def begin(self) -> int:
        """Return the instant after which the first round's window lies."""
        return mail.arrival(self.archive - 1) + HOUR

    def end(self, number: int) -> int:
        """Return the end of a round's window."""
        return self.begin + (number + 1) * STEP

    def before(self) -> list[tuple[int, Message]]:
        """Return the messages before the archive, each with its ``ts``, the oldest first."""
        dated: list[tuple[int, Message]] = []
        for number in range(self.rounds):
            for rank, copy in COPIES:
                age = int(values("age", rank, self.weeks)[0]) * WEEK
                quiet = Message(_msgid("quiet", number, rank, copy))
                dated.append((self.end(number) - age - MINUTE, quiet))
        for rank in range(HOT):
            (name,) = values("replies", rank, self.weeks)
            question = Message(_msgid("asked", rank), sender=f"{name}@example.org")
            dated.append((mail.BEGIN - WEEK, question))
        return sorted(dated, key=lambda pair: pair[0])

    def round(self, number: int, count: int) -> Round:
        """Return a round of ``count`` letters, LEAST or more."""
        letters = [self._letter(number, place) for place in range(count)]
        made = Round()
        self._write(number, letters, made)
        made.letters = [Message(**letter) for letter in letters]
        self._vote(number, made)
        for rank, copy in COPIES:
            made.expected["age", rank].add(_msgid("quiet", number, rank, copy))
        return made

    def _letter(self, number: int, place: int) -> dict[str, Any]:
        chance = np.random.default_rng([number, place])
        person, back = (int(value) for value in chance.integers(0, 20_000, 2))
        above = mail.msgid(max(self.archive - 1 - back % mail.NEAR, 0))
        return {
            "msgid": _msgid("new", number, place),
            "sender": f"p{person}@example.org",
            "sender_name": f"Person {person}",
            "subject": "the plan of an index" if back % 2 else "a lock on the page log",
            "newsgroups": (f"alt.group{back % 190}",),
            "inreplyto": above if chance.random() < mail.REPLIES else None,
        }

    def _write(self, number: int, letters: Sequence[dict[str, Any]], made: Round) -> None:
        """Put hot values into letters: senders and parents into the first, then the others."""
        unused = iter(letters)
        for kind, (rank, copy) in product((*_SENDERS, "word", "group", "groups"), COPIES):
            texts = values(kind, rank, self.weeks)
            if kind in _SENDERS:
                letter = next(unused)
                letter["sender"] = f"{texts[0]}@example.org"
                letter["sender_name"] = f"{texts[0].title()} Stone"
                letter["inreplyto"] = None
            else:
                letter = letters[(7 * rank + 50 * copy + NAMES.index(kind)) % LEAST]
            match = letter["msgid"]
            if kind == "replied":
                match = letter["inreplyto"] = self._old(number, 2 * rank + copy)
            elif kind == "replies":
                letter["inreplyto"] = _msgid("asked", rank)
            elif kind in ("pair", "word"):
                letter["subject"] += f" {texts[-1]}"
            elif kind == "group":
                letter["newsgroups"] += texts
            elif kind == "groups":
                letter["newsgroups"] += (f"{texts[0]}.talk",)
            made.expected[kind, rank].add(match)

    def _vote(self, number: int, made: Round) -> None:
        """Add votes: on one message more than any hot threshold, on another half as many."""
        for place, voters in enumerate((HOT + 1, HOT // 2 + 1)):
            msgid = self._old(number, 2 * HOT + place)
            for voter in range(voters):
                annid = f"vote.{number}.{place}.{voter}"
                made.votes.append(Annotation(annid, msgid, f"u{voter}", "vote", number=1.0))
            for rank in range(voters - 1):
                made.expected["votes", rank].add(msgid)

    def _old(self, number: int, place: int) -> str:
        """Return a message of the archive that no other round or place takes."""
        return mail.msgid(self.archive - 1 - mail.NEAR - number * 4 * HOT - place)

    def old_votes(self) -> list[tuple[int, Annotation]]:
        """Return votes from before the rounds, with their ``ts``: one each on some messages."""
        return [
            (mail.arrival(n), Annotation(f"old.{n}", mail.msgid(n), "u0", "vote", number=1.0))
            for n in range(min(20_000, self.archive // 2))
        ]


def _msgid(what: str, *numbers: int) -> str:
    return f"{what}.{'.'.join(map(str, numbers))}@population.bench.example"
