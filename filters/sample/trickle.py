"""New mail while the demo runs: a message or two every few seconds, answers and votes."""

from __future__ import annotations

from collections.abc import Sequence

from filters.sample.cast import MARY, VOTERS
from filters.sample.letter import Letter
from filters.sample.prose import Voice
from filters.sample.story import Event, Teller, Thread
from filters.sample.topics import TOPICS
from tapestry.core.clock import DAY, SECOND
from tapestry.core.message import PUBLIC

RECENT = 40
PAUSE = (5.0, 10.0)


class Trickle:
    """Makes up what happens next, from what happened; holds the threads that go on."""

    def __init__(self, events: Sequence[Event], seed: int, now: int) -> None:
        self._teller = Teller(seed, mark=f"t{now // SECOND:x}.")
        self._random = self._teller.random
        letters = [event.what for event in events if isinstance(event.what, Letter)]
        public = [letter for letter in letters if letter.audience == PUBLIC]
        since = now - 3 * DAY
        starts = [letter for letter in public if not letter.references and letter.date > since]
        self._threads = [self._resumed(letter, public) for letter in starts[-RECENT // 2 :]]
        self._favourite: Letter
        self._voters: list[str] = []
        self._turn = 0

    def pause(self) -> float:
        """Return how many seconds to wait until the next events."""
        return self._random.uniform(*PAUSE)

    def happen(self, now: int) -> list[Event]:
        """Return what happens now: a letter or two, and some votes, in the order of time."""
        self._turn += 1
        letters = [self._letter(now, by_jones=self._turn % 3 == 1)]
        if self._random.random() < 0.3:
            letters.append(self._letter(now + 1, by_jones=False))
        del self._threads[:-RECENT]
        events = [Event(letter.date, letter) for letter in letters]
        votes = [
            self._teller.vote(self._random.choice(self._random.choice(self._threads).letters), now)
            for _ in range(self._random.randint(0, 2))
        ]
        return [*events, *votes, self._applause(now)]

    def _letter(self, now: int, by_jones: bool) -> Letter:
        if not self._threads or (not by_jones and self._random.random() < 0.35):
            self._threads.append(self._teller.thread(now))
            return self._threads[-1].letters[-1]
        thread = self._random.choice(self._threads)
        if by_jones:
            unanswered = [t for t in self._threads if t.letters[-1].author is not MARY]
            thread = self._random.choice(unanswered or self._threads)
        return self._teller.reply(thread, now, MARY if by_jones else None)

    def _applause(self, now: int) -> Event:
        """Return a vote for the favourite letter, which changes after seven votes."""
        if not self._voters:
            self._favourite = self._random.choice(self._threads).letters[-1]
            self._voters = self._random.sample(VOTERS, 7)
        return self._teller.vote(self._favourite, now, self._voters.pop())

    def _resumed(self, start: Letter, letters: Sequence[Letter]) -> Thread:
        where = start.list_name, set(start.newsgroups)
        topic = next(t for t in TOPICS if t.list_name == where[0] and where[1] <= t.groups.keys())
        answers = [letter for letter in letters if letter.references[:1] == (start.msgid,)]
        voice = Voice(topic, self._random)
        return Thread(voice, start.subject, start.newsgroups, [start, *answers])
