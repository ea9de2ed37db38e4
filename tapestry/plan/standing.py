"""Which plans a statement needs: those of annotations that stand, or plainer ones.

Where no annotation was ever taken back, plans without a bound for it find the same, for less.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tapestry.core.clock import BEGINNING, NEVER
from tapestry.core.schema import ANNOTATIONS, RETRACTED
from tapestry.plan.group import SignatureGroup
from tapestry.plan.lowering.candidates import Covers
from tapestry.rewrite.pipeline import standing


def standing_groups(groups: Iterable[SignatureGroup], covers: Covers) -> list[SignatureGroup]:
    """Return the groups as they are to be lowered, given what the tables cover."""
    if not covers(ANNOTATIONS, ((BEGINNING, NEVER - 1),), RETRACTED):
        return list(groups)
    return [replace(group, disjunct=standing(group.disjunct)) for group in groups]
