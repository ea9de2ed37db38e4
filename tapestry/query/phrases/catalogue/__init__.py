"""The catalogue of phrases: every kind, once.

    KINDS ─┬─> grammar.py       the grammar, for lark; build.py makes nodes of what it finds
           ├─> semantics.py     phrase to condition
           ├─> printer.py       canonical spelling
           ├─> patterns.py      condition to phrase
           ├─> completion.py    what could follow, and what it means
           └─> phrasebook.py    the help page, and the table of LANGUAGE.md

``wordings`` puts requests into these words; ``spellings.py`` has the words in their forms;
``query/operators`` has those of Gmail and others.
A new kind of phrase is one entry in one of these files, and its cases in the fixture
``query/phrases.test``.
"""

from __future__ import annotations

from collections.abc import Iterable

from tapestry.query.phrases.catalogue import (
    age,
    agreement,
    calendar,
    days,
    files,
    patches,
    people,
    replies,
    sequences,
    shares,
    size,
    tags,
    threads,
    votes,
    words,
)
from tapestry.query.phrases.catalogue.kind import PhraseKind

FAMILIES = (
    people,
    calendar,
    words,
    replies,
    sequences,
    age,
    days,
    threads,
    votes,
    shares,
    agreement,
    tags,
    size,
    files,
    patches,
)


def by_name(kinds: Iterable[PhraseKind]) -> dict[str, PhraseKind]:
    """Return kinds by their names; raises ValueError if two have one name."""
    named: dict[str, PhraseKind] = {}
    for kind in kinds:
        if named.setdefault(kind.name, kind) is not kind:
            raise ValueError(
                f"“{named[kind.name].spelling}” and “{kind.spelling}” have one name, {kind.name}."
            )
    return named


KINDS = by_name(kind for family in FAMILIES for kind in family.KINDS)
"""Every kind of phrase by its name, what is akin together."""
