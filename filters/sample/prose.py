"""Write subjects and bodies: sentences of a topic, its slots filled."""

from __future__ import annotations

import re
import textwrap
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
        self._used: set[str] = set()
        self._filled = {slot: random.choice(words) for slot, words in topic.slots.items()}

    def subject(self) -> str:
        """Return a subject line for the thread."""
        return self._fill(self._random.choice(self.topic.subjects))

    def first(self, author: Person) -> str:
        """Return the body of a thread's first message."""
        topic, random = self.topic, self._random
        details = self._choose(topic.details, 1, 5)
        first = [random.choice(topic.openings), *details[:3]]
        second = details[3:] + self._choose(topic.questions, 0, 2)
        return self._body([first, second], author)

    def reply(self, author: Person, parent: Letter) -> str:
        """Return the body of an answer, which quotes some of its parent."""
        topic, random = self.topic, self._random
        kind = random.choices((topic.answers, topic.doubts, topic.thanks), (6, 3, 1.5))[0]
        if kind is topic.thanks:
            first = self._choose(kind, 1, 1)
        else:
            first = self._choose(kind, 1, 2) + self._choose(topic.details, 0, 2)
        second = self._choose(topic.questions, 0, 1) if random.random() < 0.35 else []
        return quote(parent, random) + self._body([first, second], author)

    def _body(self, paragraphs: Sequence[Sequence[str]], author: Person) -> str:
        paragraph_texts = [" ".join(map(self._sentence, topics)) for topics in paragraphs if topics]
        return "\n\n".join([*map(_wrapped, paragraph_texts), author.signature]) + "\n"

    def _choose(self, sentences: Sequence[str], least: int, most: int) -> list[str]:
        """Choose sentences, those that are not in the thread yet while there are enough."""
        fresh = [sentence for sentence in sentences if sentence not in self._used]
        fresh = fresh if len(fresh) >= most else list(sentences)
        chosen = self._random.sample(fresh, self._random.randint(least, min(most, len(fresh))))
        self._used.update(chosen)
        return chosen

    def _sentence(self, template: str) -> str:
        sentence = self._fill(template)
        return re.sub(r"([.?!] )([a-z])", lambda match: match[1] + match[2].upper(), sentence)

    def _fill(self, template: str) -> str:
        """Return a template with its slots filled, beginning with a capital."""
        numbers = {"n": self._random.randint(3, 30), "m": self._random.randint(2, 9)}
        text = template.format(**self._filled, **numbers)
        return text[:1].upper() + text[1:]


def quote(parent: Letter, random: Random) -> str:
    """Return the opening of a reply: who wrote, and a paragraph of what they wrote."""
    paragraphs = [
        paragraph
        for paragraph in parent.body.split("\n\n")
        if paragraph and not paragraph.startswith((">", "-- ")) and " wrote:" not in paragraph
        if paragraph.strip() != parent.author.signature
    ]
    chosen = random.choice(paragraphs) if paragraphs else parent.subject
    lines = [f"> {line}" for line in chosen.strip().splitlines()[:5]]
    return f"{parent.author.name} wrote:\n" + "\n".join(lines) + "\n\n"


def _wrapped(paragraph: str) -> str:
    """Break a paragraph into lines as people do who write mail."""
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)
