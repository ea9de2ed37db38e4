"""What a browser does with messages of a list, and what its lists show then."""

from __future__ import annotations

from typing import Any

from django.test import Client

from filters.inbox.models import Match
from filters.people.models import User

HTMX = {"HX-Request": "true"}


def shown(client: Client, address: str = "/") -> list[str]:
    """Return the messages of a list, in the order of their names."""
    return sorted(row.card.msgid for row in client.get(address).context["rows"])


def do(client: Client, action: str, *msgids: str, **more: str) -> Any:
    """Do an action with messages, as a button of the list does."""
    return client.post(f"/triage/do/{action}/", {"id": msgids, **more}, headers=HTMX)


def unread(user: User) -> set[str]:
    """Return the messages that are unread in any filter of a person."""
    matches = Match.objects.filter(filter__owner=user, read_at=None)
    return set(matches.values_list("msgid", flat=True))
