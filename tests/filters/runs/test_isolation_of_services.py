"""One fault, one source, letter, message or step: the others are served exactly.

In each lane beside those of filters and deliveries, every function that is called for the victim
is made to raise for it; afterwards the victim is served, too, and nothing is twice.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from filters.authoring.models import Filter
from filters.compose import tasks as compose_tasks
from filters.compose.models import OutgoingMessage
from filters.compose.sending import outbox
from filters.delivery.models import Address, Delivery, Destination
from filters.inbox import tasks as appraisal_tasks
from filters.inbox.appraisal import upkeep as appraisal_upkeep
from filters.inbox.appraisal.order import is_ready
from filters.inbox.lists.cards import refresh_cards
from filters.inbox.models import Appraisal, AppraiserRule, Match
from filters.people import tasks as membership_tasks
from filters.people.membership.export import exports
from filters.people.membership.removal import removals
from filters.people.models import Export, Removal, User
from filters.reading import tasks as annotation_tasks
from filters.reading.annotations.outbox import annotate, append_outbox
from filters.runs import tasks as upkeep_tasks
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from filters.sources import tasks as source_tasks
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import Message
from tapestry.ingest import unavailable
from tapestry.tables.write.append import append_messages
from tests.support.faults.planted_faults import Victim
from tests.support.faults.planted_lane import PlantedLane
from tests.support.faults.planted_people import (
    KEYS,
    WORD,
    at_once,
    is_planted,
    key_for,
    msgids_of,
    two_people,
)
from tests.support.faults.set_asides import Planted
from tests.support.servers.fake_servers import FakeNews, letter
from tests.support.servers.http_recorder import LOOPBACK
from tests.support.servers.smtp import SmtpServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(db: None) -> tuple[User, User]:
    """The victim, and somebody else."""
    return two_people()


@pytest.fixture
def pulls(
    people: tuple[User, User], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PlantedLane]:
    """Sources of two people, each at a server of its own, for the first time.

    What could not be appended is asked for again at once.
    """
    settings.PRIVATE_HOSTS = LOOPBACK
    monkeypatch.setattr(unavailable, "ASK_AGAIN", 0.0)
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
            "filters/sources/pull/pulling.py:pull_apart": "it is what sets aside",
            "filters/sources/pull/pulling.py:_put_off": "what sets aside uses it",
            "filters/sources/pull/pulling.py:_unchanged": "what sets aside uses it",
            "tapestry/ingest/parse.py:_read": "what cannot be read of mail is kept as it came",
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
        "filters/compose/sending/outbox.py:send_apart": "it is what sets aside",
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
        "filters/people/membership/export/exports.py:step_of": "it says how a work is called",
        "filters/people/membership/removal/removals.py:step_of": "it says how a work is called",
    }
    tables, tend = Path(services.tables().root), membership_tasks.tend_accounts
    return PlantedLane(Victim(WORD, KEYS), tend, wrong, lambda: None, [tables], stages)


@pytest.fixture
def appraisals(people: tuple[User, User]) -> PlantedLane:
    """A message of each of two people, on which they have voted, and a rule."""
    for owner in people:
        msgid, audience = f"1.{owner.username}@x.org", f"user:{owner.username}"
        append_messages(services.tables(), DjangoClock(), [Message(msgid, audience=audience)])
        annotate(owner, msgid, audience, "vote", number=1.0)
        keys = (key_for(owner, number) for number in range(10, 20))
        filter_ = Filter.objects.create(pk=next(keys), owner=owner, name="f", text="x")
        times = {"matched_at": 1, "stored_at": 1, "shown_at": 1}
        Match.objects.create(pk=next(keys), filter=filter_, msgid=msgid, audience=audience, **times)
        for weight, text in ((1, "per vote"), (2, "about nothing"), (5, "one week old")):
            AppraiserRule.objects.create(pk=next(keys), owner=owner, weight=weight, text=text)
        appraisal_upkeep.rules_changed(owner)
    append_outbox(services.tables())
    refresh_cards(services.tables())

    def run() -> None:
        appraisal_tasks.appraise()

    def wrong(everybody: bool) -> list[str]:
        differ = []
        for owner in people if everybody else people[1:]:
            scores = [*Appraisal.objects.filter(owner=owner).values_list("score", flat=True)]
            if scores != [1] or not is_ready(owner):
                differ.append(f"{owner}: {scores}")
        return differ

    stages = {"filters/people/people.py:readers": "a condition of the database on who sees what"}
    return PlantedLane(Victim(WORD, KEYS), run, wrong, lambda: None, stages=stages)


LANES = {
    "appraisals": 18,
    "pulls": 72,
    "letters": 48,
    "annotations": 6,
    "upkeep": 36,
    "accounts": 48,
}
"""Of so many functions of a lane one is tried each time; all are in the long tests."""


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
