"""Matches and their cards, what a person did with messages, and what matters to them."""

from __future__ import annotations

from filters.inbox.models.appraisal import (
    HEAVIEST,
    Appraisal,
    AppraisalPosition,
    Appraiser,
    AppraiserRule,
)
from filters.inbox.models.match import Card, Match, ThreadPosition
from filters.inbox.models.past import (
    FormerMatch,
    FormerMute,
    FormerRoot,
    FormerState,
    FormerUnfolding,
    fold,
    keep_former_matches,
    keep_former_states,
    lift_mutes,
)
from filters.inbox.models.triage import (
    MessageState,
    Mute,
    Selection,
    SelectionPart,
    TriageStep,
    TriageStepPart,
)
from filters.inbox.models.visibility import (
    TOP,
    MatchQuerySet,
    by_code_point,
    is_due,
    is_hidden_from_owner,
    is_seen_in,
    is_unfolded,
    is_visible_to,
    is_waiting,
    muted_roots,
    returned,
    standing_elsewhere,
)

__all__ = [
    "HEAVIEST",
    "TOP",
    "Appraisal",
    "AppraisalPosition",
    "Appraiser",
    "AppraiserRule",
    "Card",
    "FormerMatch",
    "FormerMute",
    "FormerRoot",
    "FormerState",
    "FormerUnfolding",
    "Match",
    "MatchQuerySet",
    "MessageState",
    "Mute",
    "Selection",
    "SelectionPart",
    "ThreadPosition",
    "TriageStep",
    "TriageStepPart",
    "by_code_point",
    "fold",
    "is_due",
    "is_hidden_from_owner",
    "is_seen_in",
    "is_unfolded",
    "is_visible_to",
    "is_waiting",
    "keep_former_matches",
    "keep_former_states",
    "lift_mutes",
    "muted_roots",
    "returned",
    "standing_elsewhere",
]
