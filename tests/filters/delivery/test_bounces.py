"""Bounces that pause an address, and what changes nothing; posted to the site's address."""

from __future__ import annotations

import email
from collections.abc import Callable
from email import policy
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery import sending
from filters.delivery.mail import addresses, bounces, outgoing
from filters.delivery.models import Address, Destination
from filters.people.models import User
from filters.runs.store.release import release
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.delivery_header import DELIVERY_HEADER
from tapestry.tables.delta.log import Tables
from tests.support.delivery.recorded_way import Store
from tests.support.paths import TESTS
from tests.support.servers.smtp import SmtpServer

FIXTURES = TESTS / "fixtures" / "deliver" / "bounces"
OURS = b"tapestry@tapestry.example"
SignIn = Callable[[User], Client]

FAILURES = ["postfix", "exim", "exim-text", "exchange", "gmail", "qmail"]


@pytest.fixture(autouse=True)
def has_return_paths(settings: Any) -> None:
    settings.RETURN_PATH = "tapestry+*@tapestry.example"


@pytest.fixture
def joe(alice: User) -> Destination:
    """A digest of alice to the address that the fixtures are about."""
    address = Address.objects.create(owner=alice, email="joe@x.example", confirmed_at=1)
    return Destination.objects.create(owner=alice, kind="digest", name="mail", address=address)


def bounce(name: str, destination: Destination, delivery: str = "one") -> bytes:
    """A report of a server about a delivery: it comes to the return path of that."""
    assert destination.address is not None
    return returned(name, outgoing.return_path(destination.address, delivery))


def returned(name: str, path: str) -> bytes:
    raw = Path(FIXTURES / f"{name}.eml").read_bytes()
    assert b"To: " + OURS in raw
    return raw.replace(b"To: " + OURS, b"To: " + path.encode())


def problem() -> str:
    return Address.objects.get(email="joe@x.example").problem


@pytest.mark.parametrize("name", FAILURES)
def test_one_failure_warns_and_the_third_pauses_the_address(
    joe: Destination, name: str, as_user: SignIn
) -> None:
    page = as_user(joe.owner)
    for delivery in ("one", "one", "one", "two"):
        assert bounces.take(bounce(name, joe, delivery)) == joe.address
    assert problem() == ""
    shown = page.get(joe.get_absolute_url()).content.decode()
    assert ">on<" in shown and "Mail to joe@x.example came back: 5." in shown
    bounces.take(bounce(name, joe, "three"))
    assert problem().startswith("Mail to joe@x.example came back: 5.")
    addresses.confirm(Address.objects.get(), is_proof=True)
    bounces.take(bounce(name, joe, "four"))
    assert problem() == "", "it is counted anew"


def test_the_reason_is_said(joe: Destination) -> None:
    bounces.take(bounce("postfix", joe))
    assert Address.objects.get().warning == (
        "Mail to joe@x.example came back: 5.1.1, 550 5.1.1 <joe@x.example>: Recipient address "
        "rejected: User unknown."
    )


@pytest.mark.parametrize(
    "name", ["postfix-delayed", "exim-delayed-text", "vacation", "delivered", "sent-on"]
)
def test_a_delay_and_a_reply_change_nothing(joe: Destination, name: str) -> None:
    assert bounces.take(bounce(name, joe)) is None
    assert Address.objects.get().warning == ""


def test_a_bounce_that_somebody_else_wrote_changes_nothing(
    joe: Destination, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = bounce("postfix", joe)
    settings.SECRET_KEY = "of another site"
    assert bounces.take(raw) is None
    assert bounces.take(FIXTURES.joinpath("postfix.eml").read_bytes()) is None
    assert bounces.take(bounce("postfix", Destination(address=Address(pk=1 << 39)))) is None
    raw = bounce("postfix", joe)
    monkeypatch.setattr(bounces, "wall_clock", lambda: wall_clock() + 15 * DAY)
    assert bounces.take(raw) is None, "the return path has ended"
    assert Address.objects.get().warning == ""


@pytest.mark.parametrize("kind", ["digest", "forward"])
def test_who_has_a_copy_cannot_bounce_it(
    kind: str, joe: Destination, jones: Filter, store: Store, smtp: SmtpServer, mail: Tables
) -> None:
    """No header of what is sent, quoted in a bounce that is sent to this site, is a return path."""
    Destination.objects.update(kind=kind)
    store(jones, "parc@example.org")
    _turn()
    [copy] = smtp.taken
    assert b"tapestry+" not in copy
    fields = email.message_from_bytes(copy, policy=policy.default)
    for value in (fields[DELIVERY_HEADER], fields["Message-ID"], fields["Resent-Message-ID"]):
        raw = FIXTURES.joinpath("postfix.eml").read_bytes()
        for known in (b"digest-17-2026-11-23@tapestry.example", b"digest-17-2026-11-23"):
            raw = raw.replace(known, str(value).strip("<>").encode())
        assert bounces.take(raw) is None
    assert Address.objects.get().warning == ""


def test_without_return_paths_nothing_that_comes_back_counts(
    joe: Destination, settings: Any
) -> None:
    settings.RETURN_PATH = "tapestry@tapestry.example"
    assert joe.address and outgoing.return_path(joe.address, "one") == settings.RETURN_PATH
    assert bounces.take(bounce("postfix", joe)) is None


def test_mail_that_asks_to_confirm_an_address_can_bounce(
    alice: User, mailoutbox: list[Any]
) -> None:
    address = addresses.address_of_person(alice, "joe@x.example")
    addresses.send_link(address)
    [sent] = mailoutbox
    assert sent.message()["From"] == "tapestry@127.0.0.1"
    assert bounces.take(returned("postfix", sent.from_email)) == address


def test_mail_that_is_sent_on_pauses_the_address_of_the_destination(joe: Destination) -> None:
    raw = bounce("postfix", joe).replace(b"joe@x.example", b"joseph@y.example")
    assert bounces.take(raw) == joe.address
    said = Address.objects.get().warning
    assert "Mail to joe@x.example (sent on to joseph@y.example) came back" in said


def test_a_late_bounce_is_about_the_address_that_it_was_sent_to(
    joe: Destination, alice: User
) -> None:
    late = bounce("postfix", joe)
    new = Address.objects.create(owner=alice, email="new@x.example", confirmed_at=1)
    Destination.objects.filter(pk=joe.pk).update(address=new)
    assert bounces.take(late) == joe.address
    new.refresh_from_db()
    assert (new.warning, Address.objects.get(email="joe@x.example").warning[:4]) == ("", "Mail")


def test_a_bounce_is_not_about_the_address_that_has_the_key_since(joe: Destination) -> None:
    late = bounce("postfix", joe)
    Address.objects.update(email="ann@x.example")  # after a restore
    assert bounces.take(late) is None
    assert Address.objects.get().warning == ""


def test_nothing_is_sent_to_a_paused_address(
    joe: Destination, jones: Filter, store: Store, smtp: SmtpServer
) -> None:
    """With the envelope sender that bounces go to, as it was really sent."""
    for number in range(3):
        store(jones, f"m{number}")
        _turn()
        bounces.take(returned("postfix", smtp.senders[-1]))
    assert problem()
    store(jones, "more")
    _turn()
    assert len(smtp.messages) == 3
    Address.objects.update(problem="")
    _turn()
    assert len(smtp.messages) == 4


def _turn() -> None:
    release()
    Destination.objects.filter(due_at__isnull=False).update(due_at=wall_clock())
    with outgoing.kept_connection():
        sending.deliver(["digest", "forward"], 10)


def _post(address: str, raw: bytes, kind: str = "message/rfc822") -> Any:
    path = address.removeprefix("http://127.0.0.1:8000")
    return Client(enforce_csrf_checks=True).post(path, raw, content_type=kind)


@pytest.mark.parametrize("kind", ["message/rfc822", "text/plain; charset=utf-8"])
def test_a_mail_server_posts_a_bounce(joe: Destination, settings: Any, kind: str) -> None:
    settings.SITE_URL = "http://127.0.0.1:8000"
    for delivery in ("one", "two"):
        response = _post(bounces.post_url(), bounce("postfix", joe, delivery), kind)
        assert response.content == b"It is noted: mail to joe@x.example came back.\n"
    response = _post(bounces.post_url(), bounce("postfix", joe, "three"), kind)
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


def test_where_an_administrator_clears_a_problem_bounces_count_anew(
    admin_client: Client, joe: Destination
) -> None:
    for delivery in ("one", "two", "three"):
        bounces.take(bounce("postfix", joe, delivery))
    assert problem()
    page = f"/admin/delivery/address/{joe.address_id}/change/"
    assert admin_client.post(page, {"problem": ""}).status_code == 302
    for delivery in ("three", "four"):
        bounces.take(bounce("postfix", joe, delivery))
    assert problem() == "" and len(Address.objects.get().bounced) == 2


def test_an_administrator_finds_the_address(admin_client: Client, joe: Destination) -> None:
    page = admin_client.get("/admin/delivery/address/").content.decode()
    assert bounces.post_url() in page


def test_without_a_mailbox_of_bounces_none_is_read(db: None, settings: Any) -> None:
    settings.BOUNCES = ""
    assert bounces.read_mailbox() == 0
