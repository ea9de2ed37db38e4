"""Released matches without a run: cards and matches as the store would hold them."""

from __future__ import annotations

import pytest

from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.inbox.models import Card, Match
from filters.people.models import User
from tapestry.core.clock import wall_clock
from tests.support.recorded_way import Recorder, Store


@pytest.fixture
def store(db: None) -> Store:
    """Return a function that stores a match of a filter, with its card."""

    def stored(filter_: Filter, msgid: str, *, audience: str = "public", **fields: int) -> Match:
        now = wall_clock()
        card, _ = Card.objects.get_or_create(
            msgid=msgid,
            audience=audience,
            defaults={
                "ts": now,
                "received": fields.pop("received", now),
                "subject": f"About {msgid}",
                "sender": "joe@example.org",
                "sender_name": "Joe",
                "root": fields.pop("root", msgid),
            },
        )
        instants = {"matched_at": now, "stored_at": now, "shown_at": now, "refreshed_at": now}
        return Match.objects.create(
            filter=filter_, msgid=msgid, audience=audience, card=card, **(instants | fields)
        )

    return stored


@pytest.fixture
def jones(alice: User) -> Filter:
    return Filter.objects.create(owner=alice, name="jones", text="by jones", phrase="by jones")


@pytest.fixture
def way(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Have webhooks be delivered by a recorder."""
    from filters.delivery.ways import table as ways

    recorder = Recorder()
    monkeypatch.setitem(
        ways.WAYS,
        Destination.Kind.WEBHOOK,
        ways.Way(recorder.send, recorder.preview, ways.OUTBOUND, 3),
    )
    return recorder


@pytest.fixture
def hook(alice: User) -> Destination:
    return Destination.objects.create(owner=alice, kind=Destination.Kind.WEBHOOK, name="hook")
