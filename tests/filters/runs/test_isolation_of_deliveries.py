"""One fault, one destination: the deliveries of others are exact, whatever raises for one.

Every function that release, claims and ways call for the victim is made to raise for it;
afterwards the victim is served, too: nothing is lost, nothing is twice but under its key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from filters.authoring.models import Filter
from filters.delivery import tasks
from filters.delivery.models import Destination
from filters.delivery.ways.table import WAYS
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.runs.models import ReleaseCounter
from filters.runs.store.filter_store import DjangoClock
from filters.runs.store.schedule import HELD
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.support.delivery.recorded_way import Recorder, change_way
from tests.support.delivery.ways import Place, example, is_mail
from tests.support.faults.planted_faults import Victim
from tests.support.faults.planted_lane import PlantedLane
from tests.support.faults.planted_people import KEYS, WORD, at_once, is_planted, key_for, two_people
from tests.support.faults.set_asides import Planted
from tests.support.servers.http_recorder import LOOPBACK, Reply, recording_server
from tests.support.servers.push_service import Browser
from tests.support.servers.smtp import SmtpServer

MSGIDS = ("one", "two")


def match(filter_: Filter, name: str, number: int, **other: Any) -> None:
    """Store a match as the engine would, with its original."""
    msgid, now = f"{name}.{filter_.owner.username}@x.org", wall_clock()
    raw = f"Message-ID: <{msgid}>\r\nSubject: {msgid}\r\n\r\nHello {msgid}\r\n".encode()
    append_messages(services.tables(), DjangoClock(), [Message(msgid)], originals=[Original(raw)])
    card = Card.objects.create(
        pk=key_for(filter_.owner, 500 + number), msgid=msgid, audience="public", ts=now,
        received=now, subject=msgid, sender=f"{filter_.owner.username}@x.org", root=msgid,
    )  # fmt: skip
    times = {"matched_at": now, "stored_at": now, "shown_at": now, "refreshed_at": now}
    Match.objects.create(
        pk=key_for(filter_.owner, 600 + number), filter=filter_, msgid=msgid, audience="public",
        card=card, **(times | other),
    )  # fmt: skip


@pytest.fixture
def lane(
    db: None, smtp: SmtpServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PlantedLane]:
    """Release, claims and each way; what is held by a filter and what is not."""
    people = two_people()
    settings.PRIVATE_HOSTS, settings.SITE_URL = LOOPBACK, "http://127.0.0.1:8000"
    at_once(tasks.deliver, monkeypatch)
    box = Recorder()
    change_way(monkeypatch, "mailbox", send=box.send, preview=box.preview)
    browser = Browser.new()
    ReleaseCounter.objects.create(pk=1, last=100)
    with ExitStack() as stack:
        server = stack.enter_context(recording_server(Reply(201)))
        for owner in people:
            _destinations(owner, server.url, browser)
            for number, name in enumerate(MSGIDS):
                filter_ = Filter.objects.create(
                    pk=key_for(owner, 10 + number), owner=owner, name=f"{name}-{owner.username}",
                    text="x", phrase="x", while_unread=number == 1,
                )  # fmt: skip
                match(filter_, name, number, **({"shown_at": HELD} if number else {}))

        def found(owner: User, kind: str) -> list[tuple[str, str]]:
            """Return what one person was sent, by key and message."""
            who = owner.username
            if is_mail(kind):
                to = f"{kind}@{who}.example"
                bodies = [
                    (
                        str(
                            mail["Message-ID"] if kind == "digest" else mail["X-Tapestry-Delivery"]
                        ),
                        raw,
                    )
                    for mail, raw, address in zip(
                        smtp.messages, smtp.taken, smtp.recipients, strict=True
                    )
                    if address == to
                ]
            elif kind == "mailbox":
                bodies = [
                    (batch.key, f"{found.filter_name} {found.msgid}".encode())
                    for batch in box.batches
                    for found in batch.matches
                ]
            else:
                bodies = [
                    (_key(request), browser_text(request) if kind == "push" else request.body)
                    for request in server.requests
                    if request.path == f"/{kind}/{who}"
                ]
            return sorted(
                {(key, name) for key, raw in bodies for name in MSGIDS if _has(raw, name, who)}
            )

        def browser_text(request: Any) -> bytes:
            return json.dumps(browser.decrypt(request)).encode()

        def wrong(everybody: bool) -> list[str]:
            differ = []
            for owner in people if everybody else people[1:]:
                for kind in WAYS:
                    names = [name for _, name in found(owner, kind)]
                    if kind == "push":
                        names = sorted(set(names)) or names
                    if names != sorted(MSGIDS):
                        sent = found(owner, kind) or "nothing"
                        differ.append(f"{kind} of {owner} was sent {sent}, not each of {MSGIDS}")
                late = Destination.objects.filter(owner=owner).exclude(due_at=None, error="")
                if late.exists() or late.filter(failing_since__isnull=False).exists():
                    differ.append(f"{owner}: {list(late.values_list('kind', 'error'))}")
            return differ

        def forget() -> None:
            for kept in (smtp.taken, smtp.recipients, smtp.senders, smtp.options):
                kept.clear()
            server.requests.clear()
            box.batches.clear()

        stages = {
            "filters/delivery/sending.py:_serve": "it is halved",
            "filters/delivery/sending.py:_set_aside": "it is what sets aside",
            "filters/delivery/dispatch/claims.py:put_aside": "it is what sets aside",
            "filters/delivery/dispatch/claims.py:let_go": "it is what sets aside",
        }
        yield PlantedLane(Victim(WORD, KEYS), tasks.deliver_due, wrong, forget, stages=stages)


def _key(request: Any) -> str:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return headers.get("webhook-id") or headers.get("topic", "")


def _has(raw: bytes, name: str, who: str) -> bool:
    return f"{name}.{who}@x.org".encode() in raw or f"{name}-{who}".encode() in raw


def _destinations(owner: User, url: Callable[[str], str], browser: Browser) -> None:
    who = owner.username
    for number, kind in enumerate(WAYS, 100):
        example(
            owner, kind, f"{kind} {who}",
            Place(f"{kind}@{who}.example", url(f"/{kind}/{who}"), browser),
            pk=key_for(owner, number), address_pk=key_for(owner, 100 + number), cursor=100,
            latest=100, all_since=100,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("share", "part"),
    [
        pytest.param(72, 3, id="some"),
        pytest.param(
            int(os.environ.get("SHARE", "1")),
            0,
            id="all",
            marks=[pytest.mark.long, pytest.mark.timeout(7200)],
        ),
    ],
)
def test_what_raises_for_one_destination_costs_no_other(
    lane: PlantedLane, share: int, part: int, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    count, bad = lane.faults(share, part)
    assert count and not bad, "\n".join(bad)
    assert all(is_planted(error) for _, _, error in errors)
