"""Mail that was delivered, and is to be forgotten."""

from __future__ import annotations

import pytest

from filters.authoring.models import Filter
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.reading.models import OutboxAnnotation
from filters.sources.models import Source
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables

EVERYBODY = ("public", "user:alice", "group:parc")


@pytest.fixture
def delivered(mail: Tables, alice: User) -> Tables:
    """A private message and a public one that a private reply made match, both delivered."""
    found, now = Filter.objects.create(owner=alice, name="found", text="replied to"), wall_clock()
    secret, plan = (
        Card.objects.create(
            msgid=msgid, audience=audience, ts=now, received=now, subject="The plan"
        )
        for msgid, audience in (
            ("secret@example.org", "user:alice"),
            ("plan@example.org", "public"),
        )
    )
    times = {"matched_at": 1, "stored_at": 1, "shown_at": 1, "refreshed_at": 1}
    Match.objects.create(
        filter=found, msgid=secret.msgid, audience="user:alice", card=secret, **times
    )
    Match.objects.create(
        filter=found,
        msgid=plan.msgid,
        audience="public",
        card=plan,
        evidence=["secret@example.org", "reply@example.org"],
        evidence_rows=[
            {"what": "reply", "audience": "user:alice"},
            {"what": "r", "audience": "public"},
        ],
        **times,
    )
    OutboxAnnotation.objects.create(
        annid="w", msgid="secret@example.org", owner=alice, kind="tag", value="x",
        audience="user:alice", created=1,
    )  # fmt: skip
    Source.objects.create(
        owner=alice, kind="imap", host="mail.example.org", port=993, audience="user:alice",
        active=True,
    )  # fmt: skip
    return mail
