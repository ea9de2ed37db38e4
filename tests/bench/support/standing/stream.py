"""A stream of messages, replies and votes, made from a seed."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

from tapestry.core.clock import MINUTE

BEGIN = 1_700_000_000_000_000
BATCH = 5
"""Messages that become visible at one instant."""
STEP = 10 * MINUTE
"""Between two instants."""
NEAR = 40
"""Distance of a reply from its parent, in messages, on average."""
VOTERS = 50
LATE = 0.05
"""Share of the messages that become visible after what comes next: perhaps after a reply."""


@dataclass(frozen=True, slots=True)
class Message:
    """A row of messages; ``topic`` is the column ``list``."""

    msgid: str
    ts: int
    sender: str
    topic: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class Vote:
    """A row of annotations, of the kind ``vote``."""

    annid: str
    ts: int
    msgid: str
    owner: str


@dataclass(slots=True)
class Stream:
    """All rows, in the order of ``ts``, and what refers to a message, in that order."""

    messages: list[Message]
    votes: list[Vote]
    by_msgid: dict[str, Message] = field(init=False)
    replies: dict[str, list[Message]] = field(init=False)
    votes_on: dict[str, list[Vote]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_msgid = {message.msgid: message for message in self.messages}
        self.replies, self.votes_on = defaultdict(list), defaultdict(list)
        for message in self.messages:
            if message.parent:
                self.replies[message.parent].append(message)
        for vote in self.votes:
            self.votes_on[vote.msgid].append(vote)

    @property
    def end(self) -> int:
        """Return the instant of the last row."""
        return max(self.messages[-1].ts, self.votes[-1].ts)

    def windows(self, count: int) -> list[int]:
        """Return the ends of windows with the same number of messages, the last at the end."""
        size = len(self.messages)
        ends = {self.messages[size * n // count - 1].ts for n in range(1, count)} | {self.end}
        return sorted(ends)


def values(what: str, count: int) -> list[str]:
    """Return the people or topics that messages, votes and queries are about.

    >>> values("person", 2), values("topic", 1)
    (['person0@example.org', 'person1@example.org'], ['topic0.example.org'])
    """
    mark = "@" if what == "person" else "."
    return [f"{what}{number}{mark}example.org" for number in range(count)]


def make_stream(seed: int, count: int, different: int) -> Stream:
    """Return ``count`` messages with as many votes, by and about so many people and topics."""
    chance = random.Random(f"stream {seed}")
    people, topics = values("person", different), values("topic", different)
    made: list[Message] = []
    votes = []
    for number in range(count):
        ts = BEGIN + number // BATCH * STEP
        back = number - 1 - int(chance.expovariate(1 / NEAR))
        above = made[back] if back >= 0 and chance.random() < 0.6 else None
        sender, topic = chance.choice(people), chance.choice(topics)
        if above:
            topic = above.topic
            if above.parent and chance.random() < 0.3:  # whoever asked comes back
                sender = made[int(above.parent.partition("@")[0][1:])].sender
        late = STEP * chance.randrange(1, 30) if chance.random() < LATE else 0
        parent = above.msgid if above else None
        made.append(Message(f"m{number}@example.org", ts + late, sender, topic, parent))
        liked = max(number - int(chance.expovariate(1 / NEAR)), 0) // 8 * 8
        voter = f"voter{chance.randrange(VOTERS)}"
        votes.append(Vote(f"v{number}", ts, made[liked].msgid, voter))
    return Stream(sorted(made, key=lambda row: (row.ts, row.msgid)), votes)


def latest(instants: list[int], at: int) -> int:
    """Return how many of some instants, in order, are not after another.

    >>> latest([1, 3, 3, 5], 3)
    3
    """
    return bisect_right(instants, at)
