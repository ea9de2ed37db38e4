"""The story: who wrote what when, who answered, who voted; all of it from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from filters.sample.cast import CAST, DOMAIN, PEOPLE, VOTERS, Person
from filters.sample.letter import Letter
from filters.sample.prose import Voice
from filters.sample.topics import TOPICS, Topic
from tapestry.core.clock import DAY, HOUR, MINUTE
from tapestry.core.message import PUBLIC, Annotation

DAYS = 91
MESSAGES = 2000
SEED = 1992
TAGS = ("keep", "read-later", "benchmark", "answered", "funny", "todo")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens at an instant: a letter is sent, or somebody annotates one."""

    at: int
    what: Letter | Annotation


@dataclass
class Thread:
    """A thread that goes on: its voice and its letters so far, oldest first."""

    voice: Voice
    subject: str
    newsgroups: tuple[str, ...]
    letters: list[Letter]


class Teller:
    """Makes up letters, votes and tags; the same seed makes up the same."""

    def __init__(self, seed: int = SEED, mark: str = "s") -> None:
        self.random = Random(seed)
        self._mark = mark
        self._count = 0

    def thread(self, at: int) -> Thread:
        """Begin a thread with its first letter."""
        topic = self.random.choices(TOPICS, [topic.share for topic in TOPICS])[0]
        voice = Voice(topic, self.random)
        author = self._author(CAST)
        thread = Thread(voice, voice.subject(), self._newsgroups(topic), [])
        self._add(thread, at, author, None)
        return thread

    def reply(self, thread: Thread, at: int, author: Person | None = None) -> Letter:
        """Add an answer to one of a thread's letters, rather to its first or its last."""
        before = [letter for letter in thread.letters if letter.date < at]
        before = [letter for letter in before if letter.author is not author] or thread.letters[:1]
        parent = self.random.choice([before[0], before[-1], self.random.choice(before)])
        author = author or self._author([other for other in CAST if other is not parent.author])
        return self._add(thread, at, author, parent)

    def private(self, at: int, owner: Person) -> Letter:
        """Write a letter to one person, for nobody else's eyes."""
        topic = self.random.choice(TOPICS)
        voice = Voice(topic, self.random)
        author = self._author([person for person in CAST if person is not owner])
        msgid, subject, to = self._msgid(), voice.subject(), ((owner.name, owner.address),)
        audience = f"user:{owner.user}"
        return Letter(msgid, at, author, subject, voice.first(author), to, audience=audience)

    def votes(self, letter: Letter, until: int) -> list[Event]:
        """Return the votes and tags a letter gets before ``until``; most get none."""
        if letter.audience != PUBLIC:
            return []
        random = self.random
        kind = random.random()
        count = random.randint(6, 10) if kind < 0.03 else random.randint(1, 4) if kind < 0.3 else 0
        events = [
            self._annotation(letter, voter, "vote", None, 1.0 if random.random() < 0.9 else -1.0)
            for voter in random.sample(VOTERS, count)
        ]
        if random.random() < 0.06:
            tag = "benchmark" if "benchmark" in letter.subject.lower() else random.choice(TAGS)
            events.append(self._annotation(letter, random.choice(VOTERS), "tag", tag, None))
        return [event for event in events if event.at <= until]

    def vote(self, letter: Letter, at: int, voter: str | None = None) -> Event:
        """Return one vote for a letter."""
        voter = voter or self.random.choice(VOTERS)
        return replace(self._annotation(letter, voter, "vote", None, 1.0), at=at)

    def _annotation(
        self, letter: Letter, owner: str, kind: str, value: str | None, number: float | None
    ) -> Event:
        at = letter.date + int(self.random.expovariate(1 / (20 * HOUR))) + MINUTE
        msgid, annid = letter.msgid, f"{kind}.{owner}.{letter.msgid}"
        return Event(at, Annotation(annid, msgid, owner, kind, value, number, letter.audience))

    def _add(self, thread: Thread, at: int, author: Person, parent: Letter | None) -> Letter:
        subject, voice = thread.subject, thread.voice
        references: tuple[str, ...] = ()
        if parent is None:
            body = voice.first(author)
        else:
            subject = subject if subject.startswith("Re: ") else f"Re: {subject}"
            body = voice.reply(author, parent)
            references = (*parent.references, parent.msgid)[-12:]
        mailing_list = voice.topic.list_name
        to = (("", f"{mailing_list}@{DOMAIN}"),) if mailing_list else ()
        message = (self._msgid(), at, author, subject, body, to, thread.newsgroups, mailing_list)
        letter = Letter(*message, references, self._attachment())
        thread.letters.append(letter)
        return letter

    def _attachment(self) -> tuple[str, str] | None:
        if self.random.random() > 0.02:
            return None
        rows = [f"{n},{self.random.randint(10, 999)}" for n in range(1, self.random.randint(5, 30))]
        return "measurements.csv", "run,milliseconds\n" + "\n".join(rows) + "\n"

    def _msgid(self) -> str:
        self._count += 1
        return f"{self._mark}{self._count:05d}.{self.random.getrandbits(32):08x}@{DOMAIN}"

    def _author(self, people: Sequence[Person]) -> Person:
        return self.random.choices(people, [person.talk for person in people])[0]

    def _newsgroups(self, topic: Topic) -> tuple[str, ...]:
        if not topic.groups:
            return ()
        first, second = self.random.choices(list(topic.groups), list(topic.groups.values()), k=2)
        return (first, second) if second != first and self.random.random() < 0.1 else (first,)


def story(end: int, messages: int = MESSAGES, days: int = DAYS, seed: int = SEED) -> list[Event]:
    """Return all that happened in the ``days`` before ``end``, in the order of time.

    About ``messages`` letters, a few of them to one person alone.  It follows from the arguments.
    """
    teller = Teller(seed)
    begin = end - days * DAY
    letters: list[Letter] = []
    events: list[Event] = []
    for _ in range(max(1, messages // 50)):
        owner = teller.random.choices(PEOPLE, (6, 1, 1))[0]
        letters.append(teller.private(_working_hour(teller.random, begin, end), owner))
    while len(letters) < messages:
        letters += _thread_letters(teller, begin, end)
    for letter in letters:
        events.append(Event(letter.date, letter))
        events += teller.votes(letter, end)
    return sorted(events, key=lambda event: event.at)


def _thread_letters(teller: Teller, begin: int, end: int) -> list[Letter]:
    """Return the letters of a new thread until ``end``."""
    random = teller.random
    at = _working_hour(random, begin, end)
    thread = teller.thread(at)
    replies = 0 if random.random() < 0.3 else min(14, 1 + int(random.expovariate(1 / 4.0)))
    for _ in range(replies):
        at += 7 * MINUTE + int(random.expovariate(1 / (9 * HOUR)))
        if at >= end:
            break
        teller.reply(thread, at)
    return thread.letters


def _working_hour(random: Random, begin: int, end: int) -> int:
    """Return an instant of a window, mostly by day and mostly not at the weekend."""
    while True:
        at = random.randrange(begin, end)
        day, hour = (at // DAY + 4) % 7, at % DAY // HOUR
        chance = (0.25 if day in (0, 6) else 1.0) * (1.0 if 7 <= hour < 20 else 0.12)
        if random.random() < chance:
            return at
