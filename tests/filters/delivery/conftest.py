"""Released matches without a run: cards and matches as the store would hold them."""

from __future__ import annotations

import pytest

from filters.authoring.models import Filter
from filters.delivery.models import Address, Destination
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.support.delivery.recorded_way import MakeDestination, Recorder, Store, change_way


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
    recorder = Recorder()
    change_way(monkeypatch, "webhook", send=recorder.send, preview=recorder.preview, most=3)
    return recorder


@pytest.fixture
def hook(alice: User) -> Destination:
    return Destination.objects.create(owner=alice, kind="webhook", name="hook")


@pytest.fixture
def to_alice(alice: User) -> MakeDestination:
    """Return a function that makes a destination of alice's confirmed address."""

    def made(kind: str, **settings: str) -> Destination:
        address, _ = Address.objects.get_or_create(
            owner=alice, email="al@example.org", defaults={"confirmed_at": 1}
        )
        return Destination.objects.create(
            owner=alice, kind=kind, name=kind, address=address, settings=settings
        )

    return made


@pytest.fixture
def kept_original(tables: Tables, db: None) -> bytes:
    """A message that is kept as it came: its bytes."""
    message = Message("<one@x.org>", sender="joe@x.org", subject="Hello")
    raw = (
        b"Message-ID: <one@x.org>\r\nFrom: Joe <joe@x.org>\r\nTo: all@x.org\r\n"
        b"Subject: Hello\r\nDKIM-Signature: v=1; b=abc\r\n\r\nBody \xe9\r\n"
    )
    append_messages(tables, DjangoClock(), [message], originals=[Original(raw)])
    return raw
