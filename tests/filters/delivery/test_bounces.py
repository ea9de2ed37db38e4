"""Bounces that pause an address, and what changes nothing; posted to the site's address."""

from __future__ import annotations

import email
import uuid
from email import policy
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from support.paths import TESTS
from support.recorded_way import Store
from support.servers.smtp import SmtpServer

from filters.delivery import sending
from filters.delivery.mail import bounces, outgoing
from filters.models import Address, Delivery, Destination, Filter
from filters.runtime.delivery_signer import delivery_signer
from filters.store.release import release
from tapestry.core.clock import wall_clock
from tapestry.core.delivery_header import DELIVERY_HEADER, DeliverySigner

FIXTURES = TESTS / "fixtures" / "deliver" / "bounces"
KEY, HOST = b"digest-17-2026-11-23", b"tapestry.example"
FAILURES = ["postfix", "exim", "exim-text", "exchange", "gmail", "qmail"]


@pytest.fixture
def joe(alice: User) -> Destination:
    """A digest of alice to the address that the fixtures are about."""
    address = Address.objects.create(owner=alice, email="joe@x.example", confirmed_at=1)
    return Destination.objects.create(owner=alice, kind="digest", name="mail", address=address)


def bounce(name: str, destination: Destination, signer: DeliverySigner | None = None) -> bytes:
    """A report of a server about a delivery: with the header that this site signed."""
    raw = Path(FIXTURES / f"{name}.eml").read_bytes()
    key = f"{destination.uid.hex}-0-7"
    value = (signer or delivery_signer()).value(key)
    header = f"{DELIVERY_HEADER}: ".encode()
    assert header + KEY in raw or name in ("exim-delayed-text", "vacation", "sent-on")
    return raw.replace(header + KEY, header + value.encode())


def problem() -> str:
    return Address.objects.get(email="joe@x.example").problem


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_for_good_pauses_the_address(joe: Destination, name: str) -> None:
    assert bounces.take(bounce(name, joe)) == joe.address
    assert problem().startswith("Mail to joe@x.example came back: 5.")


def test_the_reason_is_said(joe: Destination) -> None:
    bounces.take(bounce("postfix", joe))
    assert problem() == (
        "Mail to joe@x.example came back: 5.1.1, 550 5.1.1 <joe@x.example>: Recipient address "
        "rejected: User unknown."
    )


@pytest.mark.parametrize(
    "name", ["postfix-delayed", "exim-delayed-text", "vacation", "delivered", "sent-on"]
)
def test_a_delay_and_a_reply_change_nothing(joe: Destination, name: str) -> None:
    assert bounces.take(bounce(name, joe)) is None
    assert problem() == ""


def test_a_bounce_that_somebody_else_wrote_changes_nothing(joe: Destination) -> None:
    assert bounces.take(bounce("postfix", joe, DeliverySigner(b"of another site"))) is None
    assert bounces.take(FIXTURES.joinpath("postfix.eml").read_bytes()) is None
    assert bounces.take(bounce("postfix", Destination(uid=uuid.uuid4()))) is None
    assert problem() == ""


def test_without_the_header_it_is_known_by_its_message_id(joe: Destination) -> None:
    written = delivery_signer().message_id(KEY.decode(), HOST.decode()).encode()
    forged = FIXTURES.joinpath("postfix.eml").read_bytes()
    raw = forged.replace(KEY + b"@" + HOST, written)
    assert raw != forged
    assert bounces.take(raw) is None, "no such delivery is stored"
    Delivery.objects.create(destination=joe, key=KEY.decode(), at=1, state="delivered")
    assert bounces.take(forged) is None
    assert bounces.take(raw) == joe.address


def test_mail_that_is_sent_on_pauses_the_address_of_the_destination(joe: Destination) -> None:
    raw = bounce("postfix", joe).replace(b"joe@x.example", b"joseph@y.example")
    assert bounces.take(raw) == joe.address
    assert "Mail to joe@x.example (sent on to joseph@y.example) came back" in problem()


def test_a_late_bounce_pauses_the_address_that_it_is_about(joe: Destination, alice: User) -> None:
    new = Address.objects.create(owner=alice, email="new@x.example", confirmed_at=1)
    Destination.objects.filter(pk=joe.pk).update(address=new)
    assert bounces.take(bounce("postfix", joe)) == joe.address
    new.refresh_from_db()
    assert (new.problem, problem()[:4]) == ("", "Mail")


def test_nothing_is_sent_to_a_paused_address(
    joe: Destination, jones: Filter, store: Store, smtp: SmtpServer
) -> None:
    """With the header as it was really sent, and with the envelope sender that bounces go to."""
    store(jones, "one")
    _turn()
    sent = smtp.taken[0]
    value = email.message_from_bytes(sent, policy=policy.default)[DELIVERY_HEADER]
    raw = FIXTURES.joinpath("postfix.eml").read_bytes()
    back = raw.replace(KEY + b"\n", value.encode() + b"\n")
    assert bounces.take(back) == joe.address
    store(jones, "two")
    _turn()
    assert len(smtp.messages) == 1
    Address.objects.update(problem="")
    _turn()
    assert len(smtp.messages) == 2


def _turn() -> None:
    release()
    Destination.objects.filter(due_at__isnull=False).update(due_at=wall_clock())
    with outgoing.kept_connection():
        sending.deliver(["digest"], 10)


def _post(address: str, raw: bytes, kind: str = "message/rfc822") -> Any:
    path = address.removeprefix("http://127.0.0.1:8000")
    return Client(enforce_csrf_checks=True).post(path, raw, content_type=kind)


@pytest.mark.parametrize("kind", ["message/rfc822", "text/plain; charset=utf-8"])
def test_a_mail_server_posts_a_bounce(joe: Destination, settings: Any, kind: str) -> None:
    settings.SITE_URL = "http://127.0.0.1:8000"
    response = _post(bounces.post_url(), bounce("postfix", joe), kind)
    assert response.content == b"Nothing more is sent to joe@x.example.\n"
    assert problem()


@pytest.mark.parametrize(
    "raw", [b"\r\n", b"\xff\x00" * 9, b"Subject: hello\n\nHi\n", b"x" * 3_000_000]
)
def test_what_is_no_bounce_is_answered_in_words(
    joe: Destination, settings: Any, raw: bytes
) -> None:
    settings.SITE_URL = "http://127.0.0.1:8000"
    response = _post(bounces.post_url(), raw)
    assert (response.status_code, b"nothing changed" in response.content) == (200, True)
    assert problem() == ""


def test_only_who_has_the_address_may_post(joe: Destination, settings: Any) -> None:
    settings.SITE_URL = "http://127.0.0.1:8000"
    right = bounces.post_url()
    raw = bounce("postfix", joe)
    for token in ("wrong", "post", right.rstrip("/").rpartition("/")[2][:-1] + "_"):
        assert _post(f"/bounces/{token}/", raw).status_code == 404
    assert _post(right, raw, "application/json").status_code == 415
    assert Client().get(right.removeprefix("http://127.0.0.1:8000")).status_code == 405
    assert problem() == ""


def test_an_administrator_finds_the_address(admin_client: Client, joe: Destination) -> None:
    page = admin_client.get("/admin/filters/address/").content.decode()
    assert bounces.post_url() in page


def test_without_a_mailbox_of_bounces_none_is_read(db: None, settings: Any) -> None:
    settings.BOUNCES = ""
    assert bounces.read_mailbox() == 0
