"""The output of a parser, for ``check``: names unresolved, sugar still there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.query.tree.nodes import Binding, Condition

MESSAGE = "m"
"""The message delivered, in the short form and in every checked tree."""


@contextmanager
def placed(text: str) -> Iterator[None]:
    """Give every error raised inside the text its span is about; without one, all of it."""
    try:
        yield
    except TapestryError as error:
        error.text = text
        error.span = error.span or Span(0, len(text))
        raise


@dataclass(eq=False, repr=False)
class MisreadError(TapestryError):
    """The text does not follow the grammar of this notation; it may be another one.

    ``is_general``: its hint is one for any word, and phrases that come near would say more.
    """

    is_general: bool = False


@dataclass(eq=False, repr=False)
class UnsaidError(MisreadError):
    """The text could be read as a phrase, ``reading``, if a word of it meant nothing."""

    is_general: bool = True
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """One SELECT of a UNION: ``var``, one of ``bindings``, is the message delivered."""

    var: str
    bindings: tuple[Binding, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class Parsed:
    """A filter as written; ``notation`` is ``tql`` or ``phrase``.

    Three things are written with nodes that ``check`` does away with: ``x IN (a, b)`` is a
    Compare whose op is IN and whose right is a Call of ``list``; ``-x`` is a Call of ``-``;
    ``has(x, 'w')`` is a Has.

    ``restated``: ``phrase`` says it for good: the text has a date that depends on when it is read,
    or is in its writer's own words.
    """

    branches: tuple[Branch, ...]
    notation: str
    phrase: str | None = None
    restated: bool = False


def on_message(condition: Condition) -> tuple[Branch, ...]:
    """Return the one branch of a condition on ``m``."""
    return (Branch(MESSAGE, (Binding(MESSAGE, MESSAGES),), condition),)
