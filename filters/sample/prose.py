"""Write subjects and bodies: sentences of a topic, its slots filled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from filters.sample.cast import Person
from filters.sample.letter import Letter
from filters.sample.topics import Topic

WIDTH = 64


class Voice:
    """What one thread talks about: a topic and one filling of its slots."""

    def __init__(self, topic: Topic, random: Random) -> None:
        self.topic = topic
        self._random = random
        self._said: set[str] = set()
        self._filled = {slot: random.choice(words) for slot, words in topic.slots.items()}

    def subject(self) -> str:
        """Return a subject line for the thread."""
        return _capital(self._say(self._random.choice(self.topic.subjects)))

    def first(self, author: Person) -> str:
        """Return the body of a thread's first message."""
        topic, random = self.topic, self._random
        details = self._some(topic.details, 1, 5)
        first = [random.choice(topic.openings), *details[:3]]
        second = details[3:] + self._some(topic.questions, 0, 2)
        return self._body([first, second], author)

    def reply(self, author: Person, parent: Letter) -> str:
        """Return the body of an answer, which quotes some of its parent."""
        topic, random = self.topic, self._random
        kind = random.choices((topic.answers, topic.doubts, topic.thanks), (6, 3, 1.5))[0]
        first = self._some(kind, 1, 2 if kind is not topic.thanks else 1)
        if kind is not topic.thanks:
            first += self._some(topic.details, 0, 2)
        second = self._some(topic.questions, 0, 1) if random.random() < 0.35 else []
        return quote(parent, random) + self._body([first, second], author)

    def _body(self, paragraphs: Sequence[Sequence[str]], author: Person) -> str:
        paragraph_texts = [" ".join(map(self._sentence, topics)) for topics in paragraphs if topics]
        return "\n\n".join([*map(wrap, paragraph_texts), author.signature]) + "\n"

    def _some(self, sentences: Sequence[str], least: int, most: int) -> list[str]:
        """Choose some that nobody in the thread has said yet, as far as there are any."""
        fresh = [sentence for sentence in sentences if sentence not in self._said]
        fresh = fresh if len(fresh) >= most else list(sentences)
        chosen = self._random.sample(fresh, self._random.randint(least, min(most, len(fresh))))
        self._said.update(chosen)
        return chosen

    def _sentence(self, template: str) -> str:
        sentence = _capital(self._say(template))
        return re.sub(r"([.?!] )([a-z])", lambda found: found[1] + found[2].upper(), sentence)

    def _say(self, template: str) -> str:
        numbers = {"n": self._random.randint(3, 30), "m": self._random.randint(2, 9)}
        return template.format_map(self._filled | {name: str(n) for name, n in numbers.items()})


def quote(parent: Letter, random: Random) -> str:
    """Return the opening of a reply: who wrote, and a paragraph of what they wrote."""
    own = [line for line in parent.body.split("\n\n") if line and not line.startswith((">", "-- "))]
    own = [
        part for part in own if " wrote:" not in part and part.strip() != parent.author.signature
    ]
    chosen = random.choice(own) if own else parent.subject
    lines = [f"> {line}" for line in chosen.strip().splitlines()[:5]]
    return f"{parent.author.name} wrote:\n" + "\n".join(lines) + "\n\n"


def wrap(paragraph: str) -> str:
    """Break a paragraph into lines as people do who write mail."""
    lines: list[str] = []
    line = ""
    for word in paragraph.split():
        if line and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
