"""Matches and their cards, what a person did with messages, and what matters to them."""

from __future__ import annotations

from filters.inbox.models.appraisal import (
    HEAVIEST,
    Appraisal,
    AppraisalPosition,
    Appraiser,
    AppraiserRule,
)
from filters.inbox.models.match import Card, Match
from filters.inbox.models.triage import (
    MessageState,
    Mute,
    Selection,
    SelectionPart,
    TriageStep,
    TriageStepPart,
)

__all__ = [
    "HEAVIEST",
    "Appraisal",
    "AppraisalPosition",
    "Appraiser",
    "AppraiserRule",
    "Card",
    "Match",
    "MessageState",
    "Mute",
    "Selection",
    "SelectionPart",
    "TriageStep",
    "TriageStepPart",
]
