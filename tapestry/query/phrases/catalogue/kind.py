"""Entries of the catalogue: the properties of each kind of phrase."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tapestry.query.context import Context
from tapestry.query.phrases.nodes import Amount, Phrase
from tapestry.query.tree import nodes as n

_SLOT = re.compile(r"{(\w+)(?::([^}]*))?}")
NOUNS = {"replies": "reply", "people": "person", "attachments": "attachment"}
"""Slots that are what a number counts, each with its singular."""

_RULES = {
    "day": "DAY",
    "period": "PERIOD",
    "date": "(DAY | PERIOD)",
    "low": "(number | age)",
    "upper": "age",
    "unit": "(KB | MB)",
    **{many: f"({many.upper()} | {one.upper()})" for many, one in NOUNS.items()},
}
"""Symbols of the grammar for slots, where they do not follow from the slot's name."""


@dataclass(frozen=True)
class PhraseKind:
    """One kind of phrase, and everything that is made of it.

    Other words for it have three places: ``others`` for a spelling of this kind alone; ``FORMS`` of
    spellings.py for the forms of one word, wherever it stands; wordings/rules for another order of
    words or what is said around it, of texts that are no phrase as they stand.  Each word of a
    spelling becomes a keyword: where it is somebody's own word it is printed with quotes, and a
    common word that begins a value where none did before makes other texts mean something else.
    So give a phrase one word of its own, and the rest to wordings/rules.  A word's form can say
    that it is none but before certain words.

    ``spelling``: its canonical spelling, each slot with an example: ``from {person:Jones}``.
    ``description``: what it finds, in a few words.
    ``rank``: its place among completions, the least number first.  Gaps are allowed; of equal ones
    the first in the catalogue goes before.
    ``meaning``: the condition on ``m`` that a phrase of this kind means to the person of a context,
    in the nodes a parser of TQL would make.
    ``others``: other spellings, each one alternative of a rule for lark.  A word in capitals is
    a keyword, a rule in small letters a slot (``grammar.py`` lists them).
    ``opposites``: spellings of what it does not find, in the same form.
    ``shorthands``: spellings without a slot, each with the age that it stands for.
    ``extension``: a slot, and the template used instead where that slot has a value.
    ``listed``: the word that joins several values of a slot whatever is written between them,
    where only one makes sense: a message has one sender, so “from mary and joe” is either's.
    """

    spelling: str
    description: str
    rank: int
    meaning: Callable[[Phrase, Context], n.Condition]
    others: tuple[str, ...] = ()
    opposites: tuple[str, ...] = ()
    shorthands: tuple[tuple[str, Amount], ...] = ()
    extension: tuple[str, str] | None = None
    listed: Literal["", "or", "and"] = ""

    @cached_property
    def name(self) -> str:
        """Return the words of its spelling without the slots: ``voted_for_by``.

        What a number counts is one of its words: ``with_more_than_replies``.
        """
        words = _SLOT.sub(lambda slot: slot[1] if slot[1] in NOUNS else "", self.spelling)
        return "_".join(words.lower().split())

    @cached_property
    def template(self) -> str:
        """Return the canonical spelling with a name for each slot: ``from {person}``."""
        return _SLOT.sub(r"{\1}", self.spelling)

    @cached_property
    def templates(self) -> tuple[str, ...]:
        """Return the canonical spelling without the extension, and with it if there is one."""
        return (self.template, self.extension[1]) if self.extension else (self.template,)

    @property
    def example(self) -> str:
        """Return an example in canonical spelling: ``from Jones``."""
        return _SLOT.sub(lambda slot: slot[2] or slot[1], self.spelling)

    @property
    def grammar(self) -> tuple[str, ...]:
        """Return all spellings for lark, each an alternative of one rule: ``FROM person``."""
        canonical = [" ".join(map(_rule, template.split())) for template in self.templates]
        return (*canonical, *self.others)


def slots_of(template: str) -> list[str]:
    """Return the names of the slots in a template.

    >>> slots_of("with more than {number} {replies}")
    ['number', 'replies']
    """
    return [name for name, _ in _SLOT.findall(template)]


def _rule(word: str) -> str:
    slot = _SLOT.match(word)
    return _RULES.get(slot[1], slot[1]) if slot else word.upper()
