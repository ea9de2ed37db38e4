"""What the catalogue says of each kind of phrase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tapestry.query.context import Context
from tapestry.query.phrases.nodes import Amount, Phrase, Who, Words
from tapestry.query.tree import nodes as n

Slots = dict[str, Any]
"""Slots of a ``Phrase`` and their values: a Who, Words or an Amount."""


@dataclass(frozen=True, slots=True)
class PhraseInContext:
    """A phrase and the context it is read in; the slots of its kind must have values."""

    phrase: Phrase
    context: Context

    @property
    def who(self) -> Who:
        assert self.phrase.who is not None
        return self.phrase.who

    @property
    def words(self) -> Words:
        assert self.phrase.words is not None
        return self.phrase.words

    @property
    def amount(self) -> Amount:
        assert self.phrase.amount is not None
        return self.phrase.amount


@dataclass(frozen=True, slots=True)
class PhraseKind:
    """One kind of phrase, and everything that is made of it.

    ``grammar``: its spellings, each one alternative of a rule for lark.  A word in capitals is
    a keyword, a rule in small letters a slot (``grammar.py`` lists them).
    ``template``: its canonical spelling; ``extension`` is a slot and the template used instead
    where that slot has a value.
    ``description``: what it finds, in a few words.  ``example``: one in canonical spelling.
    ``rank``: where it stands among completions, the likeliest first.
    ``meaning``: the condition on ``m`` that it means, in the nodes a parser of TQL would make.
    ``pattern``: the slots of this phrase if a canonical condition may mean it, else None.  A
    pattern may be loose, for the phrase is read back.  Without one the kind is not recognised.
    """

    name: str
    grammar: tuple[str, ...]
    template: str
    description: str
    example: str
    rank: int
    meaning: Callable[[PhraseInContext], n.Condition]
    pattern: Callable[[n.Condition], Slots | None] | None
    extension: tuple[str, str] | None = None
