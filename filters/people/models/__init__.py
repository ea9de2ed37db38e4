"""People: their accounts, what proves who they are, how they come and go."""

from __future__ import annotations

from filters.people.models.account import (
    LAST_MINUTE,
    RetiredName,
    User,
    validate_holidays,
    validate_timeliness,
    validate_usual_timeliness,
    validate_workdays,
)
from filters.people.models.membership import Export, Invitation, Removal
from filters.people.models.security import AuthenticatorApp, BrowserSession, Passkey, RecoveryCode

__all__ = [
    "LAST_MINUTE",
    "AuthenticatorApp",
    "BrowserSession",
    "Export",
    "Invitation",
    "Passkey",
    "RecoveryCode",
    "Removal",
    "RetiredName",
    "User",
    "validate_holidays",
    "validate_timeliness",
    "validate_usual_timeliness",
    "validate_workdays",
]
