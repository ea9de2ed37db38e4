"""Phrases that compare how many there are with a number: more, at least, fewer, at most."""

from __future__ import annotations

from collections.abc import Callable

from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import whole_number
from tapestry.query.phrases.catalogue.kind import NOUNS, PhraseKind
from tapestry.query.phrases.nodes import Phrase
from tapestry.query.tree import nodes as n

Place = tuple[int, str]
"""Rank and description of a kind."""


def counted(
    noun: str,
    condition: Callable[[str, n.Literal], n.Condition],
    more: Place,
    least: Place,
    fewer: Place | None = None,
) -> tuple[PhraseKind, ...]:
    """Return the kinds “more than N” and “at least N” of a noun of ``NOUNS``.

    ``condition`` compares the count by an operator with a number.  “At most” is the opposite of
    more, “fewer” that of at least unless it is a kind of its own.
    """
    nouns = f"({noun.upper()} | {NOUNS[noun].upper()})"

    def meaning(op: str) -> Callable[[Phrase, Context], n.Condition]:
        return lambda phrase, _: condition(op, whole_number(phrase.amount))

    less = (f"(HAS FEWER | BARE_LESS) THAN number {nouns}",)
    kinds = (
        PhraseKind(
            f"with more than {{number:three}} {{{noun}}}",
            more[1],
            more[0],
            meaning(">"),
            others=(f"(HAS MORE | BARE_MORE) THAN number {nouns}",),
            opposites=(f"(WITH AT | HAS AT | BARE_AT) MOST number {nouns}",),
        ),
        PhraseKind(
            f"with at least {{number:three}} {{{noun}}}",
            least[1],
            least[0],
            meaning(">="),
            others=(
                f"(HAS AT | BARE_AT) LEAST number {nouns}",
                f"(WITH | HAS) number OR_MORE {nouns}",
            ),
            opposites=() if fewer else (f"WITH FEWER THAN number {nouns}", *less),
        ),
    )
    if fewer is None:
        return kinds
    spelling = f"with fewer than {{number:three}} {{{noun}}}"
    return (*kinds, PhraseKind(spelling, fewer[1], fewer[0], meaning("<"), others=less))
