"""What the relational database keeps: people, filters, matches, destinations, sources, the clock.

A filter is a continuous query: written once, evaluated over all that comes.
"""

from __future__ import annotations

from filters.models.account import Profile, RetiredName
from filters.models.annotation import OutboxAnnotation
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
from filters.models.filter import Filter, PendingWindow, Reference, filter_name
from filters.models.match import Card, Match
from filters.models.runtime import Clock, Heartbeat, SharedWindow
from filters.models.source import Folder, Import, Pull, Source, Trial

__all__ = [
    "Address",
    "BounceMailbox",
    "Card",
    "Clock",
    "ConfirmationMail",
    "Delivery",
    "Destination",
    "Feed",
    "Filter",
    "Folder",
    "Heartbeat",
    "Import",
    "KeptMail",
    "Match",
    "Mute",
    "OutboxAnnotation",
    "PendingWindow",
    "Profile",
    "Pull",
    "Reference",
    "ReleaseCounter",
    "RetiredName",
    "SharedWindow",
    "Source",
    "Subscription",
    "Trial",
    "filter_name",
]
