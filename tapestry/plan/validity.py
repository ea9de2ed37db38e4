"""Choose the plans that a statement needs: while annotations are valid, or plainer ones.

Where no annotation was ever taken back, plans without a bound for it find the same, for less.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tapestry.core.clock import BEGINNING, NEVER
from tapestry.core.schema import ANNOTATIONS, RETRACTED
from tapestry.plan.group import SignatureGroup
from tapestry.plan.lowering.candidates import Covers
from tapestry.rewrite.pipeline import while_valid


def groups_while_valid(groups: Iterable[SignatureGroup], covers: Covers) -> list[SignatureGroup]:
    """Return the groups as they are to be lowered, given what the tables cover."""
    if not covers(ANNOTATIONS, ((BEGINNING, NEVER - 1),), RETRACTED):
        return list(groups)
    return [replace(group, disjunct=while_valid(group.disjunct)) for group in groups]
