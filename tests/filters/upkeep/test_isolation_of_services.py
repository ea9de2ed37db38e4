"""One fault, one destination, source, message or person: the others are served exactly.

In each lane beside those of filters, every function that is called for the victim is made to raise
for it; afterwards the victim is served, too: nothing is lost, nothing is twice but under its key.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from support.planted_faults import PlantedError, Victim
from support.planted_lane import PlantedLane
from support.recorded_way import Recorder
from support.servers.fake_servers import FakeNews, letter
from support.servers.http_recorder import LOOPBACK, Reply, recording_server
from support.servers.push_service import Browser
from support.servers.smtp import SmtpServer
from support.set_asides import Planted

from filters.annotations import tasks as annotation_tasks
from filters.annotations.outbox import annotate
from filters.compose import outbox
from filters.compose import tasks as compose_tasks
from filters.delivery import tasks as delivery_tasks
from filters.delivery.ways import table as ways
from filters.membership import tasks as membership_tasks
from filters.membership.export import exports
from filters.membership.removal import removals
from filters.models import (
    Address,
    Card,
    Delivery,
    Destination,
    Export,
    Filter,
    Match,
    OutgoingMessage,
    Profile,
    ReleaseCounter,
    Removal,
)
from filters.models.source import Source
from filters.runtime import encryption, services
from filters.sources import tasks as source_tasks
from filters.sources.credentials import keep_secret
from filters.store.filter_store import DjangoClock
from filters.store.schedule import HELD
from filters.upkeep import tasks as upkeep_tasks
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import Message
from tapestry.deliver.http.push_keys import read_subscription
from tapestry.deliver.http.signature import make_secret
from tapestry.tables.append import append_messages
from tapestry.tables.originals import Original

pytestmark = pytest.mark.django_db

WORD = "zyzzyva"
"""Stands in all that is the victim's, and in nothing else."""

KEYS = range(7_000_000, 7_001_000)
"""Keys of rows of the victim; those of others are far below, given by the tests too."""

MSGIDS = ("one", "two")


@pytest.fixture
def people(db: None) -> tuple[User, User]:
    """The victim, and somebody else."""
    made = []
    for name in (WORD, "bob"):
        user = User(username=name, email=f"{name}@example.org")
        user.pk = key_for(user, 0)
        User.objects.bulk_create([user])
        Profile.objects.create(pk=key_for(user, 1), user=user)
        made.append(user)
    return made[0], made[1]


def key_for(owner: User, number: int) -> int:
    return number + (KEYS.start if owner.username == WORD else 1_000_000)


def at_once(task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a task that is sent be run where it is sent."""
    monkeypatch.setattr(task, "apply_async", lambda args, **_: task(*args))


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
def deliveries(
    people: tuple[User, User], smtp: SmtpServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PlantedLane]:
    """Release, claims and each way; what is held by a filter and what is not."""
    settings.PRIVATE_HOSTS, settings.SITE_URL = LOOPBACK, "http://127.0.0.1:8000"
    at_once(delivery_tasks.deliver, monkeypatch)
    box = Recorder()
    way = ways.Way(box.send, box.preview, ways.OUTBOUND, 100, reopens=True)
    monkeypatch.setitem(ways.WAYS, "mailbox", way)
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
            if kind in ("digest", "forward"):
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
                    (_key(request), request.body if kind == "webhook" else browser_text(request))
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
                for kind in Destination.Kind.values:
                    names = [name for _, name in found(owner, kind)]
                    if kind == "push":
                        names = sorted(set(names)) or names
                    if names != sorted(MSGIDS):
                        differ.append(f"{kind} of {owner}: {found(owner, kind)}")
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
            "filters/delivery/claims.py:put_aside": "it is what sets aside",
            "filters/delivery/claims.py:let_go": "it is what sets aside",
        }
        yield PlantedLane(
            Victim(WORD, KEYS), delivery_tasks.deliver_due, wrong, forget, stages=stages
        )


def _key(request: Any) -> str:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return headers.get("webhook-id") or headers.get("topic", "")


def _has(raw: bytes, name: str, who: str) -> bool:
    return f"{name}.{who}@x.org".encode() in raw or f"{name}-{who}".encode() in raw


def _destinations(owner: User, url: Callable[[str], str], browser: Browser) -> None:
    who = owner.username
    for number, kind in enumerate(Destination.Kind.values, 100):
        address = None
        if kind in ("digest", "forward"):
            address = Address.objects.create(
                pk=key_for(owner, 100 + number), owner=owner, email=f"{kind}@{who}.example",
                confirmed_at=1,
            )  # fmt: skip
        secret = make_secret()
        if kind == "push":
            asked = read_subscription(browser.subscription(url(f"/push/{who}")))
            secret = json.dumps(asked.as_browsers_write_it())
        Destination.objects.create(
            pk=key_for(owner, number), owner=owner, kind=kind, name=f"{kind} {who}",
            address=address, settings={"url": url(f"/webhook/{who}")},
            secret=encryption.encrypt(secret, services.data()), cursor=100, latest=100,
            all_since=100,
        )  # fmt: skip


def msgids_of(owner: User) -> list[str]:
    rows = services.tables().open("messages").to_pyarrow_table().to_pylist()
    return sorted(row["msgid"] for row in rows if row["audience"] == f"user:{owner.username}")


@pytest.fixture
def pulls(
    people: tuple[User, User], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PlantedLane]:
    """Sources of two people, each at a server of its own, for the first time."""
    settings.PRIVATE_HOSTS = LOOPBACK
    at_once(source_tasks.pull_source, monkeypatch)
    services.tables().root.mkdir(parents=True)
    with ExitStack() as stack:
        for owner in people:
            group = f"news.{owner.username}"
            server = stack.enter_context(FakeNews({group: {n: letter(n) for n in (1, 2)}}))
            source = Source(
                pk=key_for(owner, 10), owner=owner, kind="nntp", host="127.0.0.1",
                port=server.port, security="none", folder_patterns=[group], active=True,
                audience=f"user:{owner.username}",
            )  # fmt: skip
            keep_secret(source, "")
            source.save()

        def run() -> None:
            Source.objects.filter(error="").update(due_at=0)
            source_tasks.pull_due()

        def wrong(everybody: bool) -> list[str]:
            differ = []
            for owner in people if everybody else people[1:]:
                source = Source.objects.get(owner=owner)
                if msgids_of(owner) != ["1@x.org", "2@x.org"] or source.error:
                    differ.append(f"{owner}: {msgids_of(owner)} {source.error}")
            return differ

        stages = {
            "filters/sources/tasks.py:pull_source": "the task of one source: the log has it",
            "filters/sources/pulling.py:pull_apart": "it is what sets aside",
        }
        tables = Path(services.tables().root)
        yield PlantedLane(Victim(WORD, KEYS), run, wrong, lambda: None, [tables], stages)


@pytest.fixture
def letters(
    people: tuple[User, User], smtp: SmtpServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> PlantedLane:
    """What two people have sent off."""
    at_once(compose_tasks.send_message, monkeypatch)
    services.tables().root.mkdir(parents=True)
    for owner in people:
        Address.objects.create(owner=owner, email=owner.email, confirmed_at=1)
        draft = OutgoingMessage.objects.create(
            pk=key_for(owner, 10), owner=owner, sender=owner.email, changed_at=wall_clock(),
            to=f"{owner.username}@there.example", subject=f"To {owner}", body="Hello",
        )  # fmt: skip
        outbox.queue(draft)
    OutgoingMessage.objects.update(due_at=1)

    def wrong(everybody: bool) -> list[str]:
        differ = []
        for owner in people if everybody else people[1:]:
            to = f"{owner.username}@there.example"
            taken = {mail["Message-ID"] for mail in smtp.messages if mail["To"] == to}
            row = OutgoingMessage.objects.get(owner=owner)
            stored = msgids_of(owner)
            if (len(taken), row.state, row.due_at, stored) != (1, "sent", None, [row.message_id]):
                differ.append(f"{owner}: {taken} {row.state} {row.error} {stored}")
        return differ

    def forget() -> None:
        for kept in (smtp.taken, smtp.recipients, smtp.senders, smtp.options):
            kept.clear()

    stages = {
        "filters/compose/tasks.py:send_message": "the task of one message: the log has it",
        "filters/compose/outbox.py:send_apart": "it is what sets aside",
    }
    tables = Path(services.tables().root)
    run = compose_tasks.send_outbox
    return PlantedLane(Victim(WORD, KEYS), run, wrong, forget, [tables], stages)


@pytest.fixture
def annotations(people: tuple[User, User]) -> PlantedLane:
    """What people said of a message: it is appended together."""
    append_messages(services.tables(), DjangoClock(), [Message("plan@x.org")])
    for owner in people:
        for number in range(3):
            said = f"{number} {owner.username}"
            annotate(owner, "plan@x.org", "public", "tag", value=said)

    def wrong(everybody: bool) -> list[str]:
        rows = services.tables().open("annotations").to_pyarrow_table().to_pylist()
        said = Counter(row["value"] for row in rows)
        who = people if everybody else people[1:]
        expected = {f"{number} {owner.username}": 1 for owner in who for number in range(3)}
        return [] if expected.items() <= said.items() else [f"{said}"]

    tables = Path(services.tables().root)
    append = annotation_tasks.append_annotations
    return PlantedLane(Victim(WORD, KEYS), append, wrong, lambda: None, [tables])


@pytest.fixture
def upkeep(people: tuple[User, User], settings: Any) -> PlantedLane:
    """Old mail of two people, and old deliveries."""
    now, clock = wall_clock(), DjangoClock()
    settings.RETENTION = {f"user:{owner.username}": 3 for owner in people}
    for owner in people:
        who = f"user:{owner.username}"
        old = Message(f"old.{owner.username}@x.org", audience=who)
        append_messages(services.tables(), clock, [old], now=lambda: now - 9 * DAY)
    place = Destination.objects.create(owner=people[1], kind="webhook", name="hook")
    for _ in range(12):
        Delivery.objects.create(destination=place, key="k", at=now - 30 * DAY, state="delivered")

    def wrong(everybody: bool) -> list[str]:
        differ = [f"{Delivery.objects.count()} deliveries"] if place.deliveries.count() > 10 else []
        for owner in people if everybody else people[1:]:
            if found := msgids_of(owner):
                differ.append(f"{owner}: {found}")
        return differ

    tables = Path(services.tables().root)
    return PlantedLane(Victim(WORD, KEYS), upkeep_tasks.compact, wrong, lambda: None, [tables])


@pytest.fixture
def accounts(people: tuple[User, User]) -> PlantedLane:
    """Exports of two people, and two who leave."""
    leaving = [
        User.objects.create_user(f"leaving-{owner.username}", pk=key_for(owner, 900))
        for owner in people
    ]
    for owner, user in zip(people, leaving, strict=True):
        append_messages(
            services.tables(), DjangoClock(), [Message("a@x", audience=f"user:{user.username}")]
        )
        Export.objects.create(pk=key_for(owner, 10), owner=owner, asked_at=wall_clock())
        removals.ask(user)

    def wrong(everybody: bool) -> list[str]:
        differ = []
        for owner, user in list(zip(people, leaving, strict=True))[not everybody :]:
            export = Export.objects.get(owner=owner)
            if export.ended_at is None or export.error or not exports.path_of(export).exists():
                differ.append(f"{owner}: {export.error}")
            if Removal.objects.get(name=user.username).done_at is None or msgids_of(user):
                differ.append(f"{user} is here still")
        return differ

    stages = {
        "filters/membership/export/exports.py:step_of": "it says how a work is called",
        "filters/membership/removal/removals.py:step_of": "it says how a work is called",
    }
    tables, tend = Path(services.tables().root), membership_tasks.tend_accounts
    return PlantedLane(Victim(WORD, KEYS), tend, wrong, lambda: None, [tables], stages)


LANES = {
    "deliveries": 16,
    "pulls": 24,
    "letters": 24,
    "annotations": 6,
    "upkeep": 12,
    "accounts": 16,
}
"""Of so many functions of a lane one is tried each time; all are in the long tests."""


def is_planted(error: Exception) -> bool:
    """Tell whether an error is the planted one, or what the reader of mail makes of it."""
    return isinstance(error, PlantedError) or "cannot read its own letter" in str(error)


@pytest.mark.parametrize("lane", LANES)
def test_what_raises_for_one_costs_no_other(
    lane: str, request: pytest.FixtureRequest, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    count, bad = request.getfixturevalue(lane).faults(LANES[lane], 3)
    assert count and not bad, "\n".join(bad)
    assert all(is_planted(error) for _, _, error in errors)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("lane", LANES)
def test_whatever_raises_for_one_costs_no_other(
    lane: str, request: pytest.FixtureRequest, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    count, bad = request.getfixturevalue(lane).faults(int(os.environ.get("SHARE", "1")), 0)
    assert count and not bad, "\n".join(bad)
    assert all(is_planted(error) for _, _, error in errors)
