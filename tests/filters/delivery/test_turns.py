"""Turns: a destination with much to be sent, or an owner with many, holds up no other."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.core.mail import EmailMessage

from filters.authoring.models import Filter
from filters.delivery import sending
from filters.delivery.dispatch import claims
from filters.delivery.mail import outgoing
from filters.delivery.mail.outgoing import WrittenMail
from filters.delivery.models import Address, Delivery, Destination
from filters.delivery.ways import forward, one_by_one
from filters.people.models import User
from filters.runs.store.release import release
from tapestry.core.clock import wall_clock
from tapestry.deliver.batch import DeliveredMatch, Outcome
from tests.support.delivery.recorded_way import Recorder, Store
from tests.support.delivery.turn import fresh
from tests.support.faults.set_asides import Planted

SLOW = 0.35
"""Seconds that the mail server takes for a message, by the clock of these tests."""

MakeDestination = Callable[[User, str], Destination]


class Clock:
    """A clock that goes on only while mail is sent."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have a slow mail server; return to which destinations it sent, in order."""
    clock, order = Clock(), list[str]()
    for module in (sending, one_by_one):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=clock.monotonic))

    def send(message: EmailMessage, recipient: str) -> Outcome:
        assert isinstance(message, WrittenMail)
        clock.now += SLOW
        order.append(recipient)
        return Outcome("delivered", "Taken.")

    monkeypatch.setattr(outgoing, "send", send)
    raw = b"Message-ID: <one@x.org>\r\n\r\nHello\r\n"
    monkeypatch.setattr(forward, "raw_of", lambda msgid, audience: raw)
    return order


@pytest.fixture
def mails(db: None) -> MakeDestination:
    def made(owner: User, kind: str) -> Destination:
        email = f"{kind}@{owner.username}.example.org"
        address = Address.objects.create(owner=owner, email=email, confirmed_at=1)
        return Destination.objects.create(owner=owner, kind=kind, name=kind, address=address)

    return made


def find(owner: User, store: Store, filters: int, each: int) -> None:
    """Have filters of a person find messages, too few for a flood."""
    for number in range(filters):
        name = f"f{number}"
        filter_ = Filter.objects.create(owner=owner, name=name, text="x", phrase="x")
        for message in range(each):
            store(filter_, f"{name}-{message}@{owner.username}")


def deliver_all() -> None:
    while claims.due(["digest", "forward"], 1):
        sending.deliver(["digest", "forward"], 20)


def test_three_hundred_forwards_hold_up_no_other_mail(
    alice: User, bob: User, store: Store, mails: MakeDestination, served: list[str]
) -> None:
    many, few, digest_ = mails(alice, "forward"), mails(bob, "forward"), mails(bob, "digest")
    find(alice, store, filters=10, each=30)
    find(bob, store, filters=1, each=2)
    release()
    deliver_all()
    first_round = served[: int(sending.ROUND / SLOW) + 3]
    assert first_round.count(str(few.address)) == 2
    assert first_round.count(str(digest_.address)) == 1
    assert served.count(str(many.address)) == 300 and len(served) == 303
    assert (fresh(many).cursor, many.claimed_until, many.holder) == (many.latest, None, "")
    recorded = Delivery.objects.filter(destination=many, state="delivered")
    assert sum(recorded.values_list("matches", flat=True)) == 300


def test_each_message_is_sent_once_and_in_order_over_many_turns(
    alice: User, store: Store, mails: MakeDestination, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though every other turn ends before its message was confirmed, as after a crash."""
    to_alice, order = mails(alice, "forward"), list[str]()

    def send(message: WrittenMail, recipient: str) -> Outcome:
        order.append(message.key)
        return Outcome("delivered" if len(order) % 3 else "retry", "Later.")

    monkeypatch.setattr(outgoing, "send", send)
    monkeypatch.setattr(forward, "raw_of", lambda msgid, audience: b"Subject: x\r\n\r\n")
    monkeypatch.setattr(sending, "ROUND", 0.0)
    find(alice, store, filters=1, each=12)
    release()
    while fresh(to_alice).cursor < to_alice.latest:
        Destination.objects.filter(due_at__isnull=False).update(due_at=wall_clock())
        sending.deliver(["forward"], 20)
    taken = [key for number, key in enumerate(order, 1) if number % 3]
    assert taken == [f"{to_alice.uid.hex}-{sequence}" for sequence in range(1, 13)]


def test_a_message_that_cannot_be_written_costs_no_other(
    alice: User, store: Store, mails: MakeDestination, served: list[str], set_asides: Planted,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    errors = set_asides.expect()
    to_alice, write, sent = mails(alice, "forward"), forward.write, list[str]()

    def fails(destination: Destination, address: Address, key: str, match: DeliveredMatch,
              *rest: bytes, is_file: bool = False) -> bytes:  # fmt: skip
        if match.msgid.startswith("f0-1@"):
            raise KeyError
        sent.append(match.msgid)
        return write(destination, address, key, match, *rest, is_file=is_file)

    monkeypatch.setattr(forward, "write", fails)
    find(alice, store, filters=1, each=3)
    release()
    deliver_all()
    assert sent == ["f0-0@alice", "f0-2@alice"] and len(served) == 3, "the second by a digest"
    assert len(errors) == 1 and fresh(to_alice).cursor == to_alice.latest


def test_who_has_much_to_be_sent_is_not_always_served_first(
    alice: User, store: Store, mails: MakeDestination, served: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    owners = [User.objects.create_user(f"u{number}") for number in range(3)]
    keys = [mails(owner, "digest").pk for owner in owners]
    for owner in owners:
        find(owner, store, filters=1, each=1)
    release()
    monkeypatch.setattr(claims, "drawn", lambda *_: keys[::-1])
    sending.deliver(["digest"], 20)
    assert served == [f"digest@u{number}.example.org" for number in (2, 1, 0)]


def test_what_has_not_begun_when_the_round_is_over_is_due_again(
    alice: User, store: Store, mails: MakeDestination, served: list[str]
) -> None:
    owners = [User.objects.create_user(f"u{number}") for number in range(20)]
    digests = [mails(owner, "digest") for owner in owners]
    for owner in owners:
        find(owner, store, filters=1, each=1)
    release()
    keys = [row.pk for row in digests]
    with sending.holder.claiming() as name:
        sending._deliver_all(claims.claim(name, keys))
    waiting = Destination.objects.filter(due_at__lte=wall_clock(), holder="", claimed_until=None)
    assert len(served) == 15 and waiting.count() == 5
    deliver_all()
    assert sorted(served) == sorted(str(row.address) for row in digests)


def test_a_person_with_many_destinations_is_one_among_the_others(
    alice: User, bob: User, hook: Destination, store: Store, way: Recorder
) -> None:
    now = wall_clock()
    for number in range(40):
        name = f"{number}"
        Destination.objects.create(owner=alice, kind="webhook", name=name, due_at=now)
    theirs = Destination.objects.create(owner=bob, kind="webhook", name="b", due_at=now)
    keys = claims.due(["webhook"], 80)
    assert theirs.pk in claims.drawn(keys, 2)
    Destination.objects.filter(pk=hook.pk).update(holder="somebody:1")
    assert claims.drawn(keys, 1) == [theirs.pk], "one of alice's is being served"
    assert len(set(claims.drawn(keys, 80))) == 41
