"""What the relational database keeps: people, filters, matches, destinations, sources, the clock.

A filter is a continuous query: written once, evaluated over all that comes.
"""

from __future__ import annotations

from filters.models.account import Profile, RetiredName
from filters.models.annotation import OutboxAnnotation
from filters.models.appraisal import Appraisal, AppraisalPosition, Appraiser, AppraiserRule
from filters.models.compose import Attachment, OutgoingMessage, SmtpAccount
from filters.models.delivery import (
    Address,
    BounceMailbox,
    ConfirmationMail,
    Delivery,
    Destination,
    Feed,
    KeptMail,
    Mute,
    ReleaseCounter,
    Subscription,
)
from filters.models.filter import (
    LONGEST_TITLE,
    Filter,
    PendingWindow,
    Reference,
    as_title,
    filter_name,
    filter_title,
)
from filters.models.match import Card, Match
from filters.models.membership import Export, Invitation, Removal
from filters.models.runtime import Clock, Heartbeat, SharedWindow
from filters.models.security import AuthenticatorApp, BrowserSession, Passkey, RecoveryCode
from filters.models.set_aside import SetAside
from filters.models.source import Folder, Import, Pull, Source, SyncState, Trial
from filters.models.triage import (
    MessageState,
    Selection,
    SelectionPart,
    TriageStep,
    TriageStepPart,
)

__all__ = [
    "LONGEST_TITLE",
    "Address",
    "Appraisal",
    "AppraisalPosition",
    "Appraiser",
    "AppraiserRule",
    "Attachment",
    "AuthenticatorApp",
    "BounceMailbox",
    "BrowserSession",
    "Card",
    "Clock",
    "ConfirmationMail",
    "Delivery",
    "Destination",
    "Export",
    "Feed",
    "Filter",
    "Folder",
    "Heartbeat",
    "Import",
    "Invitation",
    "KeptMail",
    "Match",
    "MessageState",
    "Mute",
    "OutboxAnnotation",
    "OutgoingMessage",
    "Passkey",
    "PendingWindow",
    "Profile",
    "Pull",
    "RecoveryCode",
    "Reference",
    "ReleaseCounter",
    "Removal",
    "RetiredName",
    "Selection",
    "SelectionPart",
    "SetAside",
    "SharedWindow",
    "SmtpAccount",
    "Source",
    "Subscription",
    "SyncState",
    "TriageStep",
    "TriageStepPart",
    "Trial",
    "as_title",
    "filter_name",
    "filter_title",
]
