"""Addresses on their pages: the link that confirms one, how often it is sent, and what bounced."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from django.core import mail as outbox_of
from django.test import Client

from filters.delivery.mail import addresses
from filters.delivery.models import Address, Destination
from filters.people.models import User
from tapestry.core.clock import HOUR, MINUTE, SECOND
from tapestry.core.delivery_header import DELIVERY_HEADER
from tapestry.core.errors import TapestryError
from tests.support.servers.smtp import SmtpServer

SignIn = Callable[[User], Client]
PassTime = Callable[[int], None]


@pytest.fixture
def client(alice: User, as_user: SignIn) -> Client:
    return as_user(alice)


def add(client: Client, address: str, kind: str = "digest", **more: str) -> str:
    fields = {"address": address, "which": "all", "style": "resent", **more}
    response = client.post(f"/delivery/new/{kind}/", fields, follow=True)
    assert response.status_code == 200, text(response)
    return text(response)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def sent() -> list[Any]:
    return list(outbox_of.outbox)


@pytest.fixture
def pass_time() -> Iterator[PassTime]:
    """Return the function that lets microseconds pass."""
    with time_machine.travel(time.time()) as traveller:
        yield lambda microseconds: traveller.shift(microseconds / SECOND)


def test_a_link_is_sent_and_confirms(client: Client) -> None:
    page = add(client, "al@x.org")
    assert "We sent a link to al@x.org" in page and "waiting for confirmation" in page
    [message] = sent()
    assert message.to == ["al@x.org"]
    written = message.message()
    assert written["Auto-Submitted"] == "auto-generated" and written[DELIVERY_HEADER]
    assert written["Message-ID"].startswith("<address-")
    assert "alice" in message.body
    url = re.search(r"^http\S+/confirm/\S+$", message.body, re.MULTILINE)
    assert url is not None
    Client().post(urlsplit(url[0]).path)
    assert Address.objects.get().confirmed_at is not None
    page = text(client.get(Destination.objects.get().get_absolute_url()))
    assert "waiting for confirmation" not in page and ">on<" in page


def test_one_link_for_two_destinations_of_an_address(client: Client, pass_time: PassTime) -> None:
    add(client, "al@x.org")
    add(client, "al@x.org", "forward")
    assert len(sent()) == 1 and Address.objects.count() == 1
    Address.objects.update(confirmed_at=1)
    pass_time(HOUR)
    assert ">on<" in add(client, "al@x.org", name="third")
    assert len(sent()) == 1, "it is confirmed"


def test_the_link_is_sent_again_after_ten_minutes(client: Client, pass_time: PassTime) -> None:
    page = add(client, "al@x.org")
    path = f"/delivery/{Destination.objects.get().pk}/link/"
    assert "Send the link again" not in page
    assert "A link was sent to al@x.org a moment ago" in text(client.post(path, follow=True))
    pass_time(10 * MINUTE + 1)
    assert "Send the link again" in text(client.get("/delivery/"))
    assert "We sent a link" in text(client.post(path, follow=True))
    assert len(sent()) == 2


def test_another_person_cannot_have_the_same_address_flooded(
    client: Client, bob: User, as_user: SignIn
) -> None:
    add(client, "victim@x.org")
    assert "A link was sent to Victim@x.org a moment ago" in add(as_user(bob), "Victim@x.org")
    assert len(sent()) == 1


def test_three_links_an_hour_to_an_address_silence_no_other(
    client: Client, alice: User, pass_time: PassTime
) -> None:
    address = addresses.address_of_person(alice, "a@x.org")
    for _ in range(3):
        addresses.send_link(address)
        pass_time(11 * MINUTE)
    assert "3 links were sent to A@x.org within an hour" in add(client, "A@x.org")
    for number in range(3):
        add(client, f"a{number}@x.org")
    assert len(sent()) == 6
    Address.objects.all().delete()
    address = addresses.address_of_person(alice, "a@x.org")
    with pytest.raises(TapestryError):
        addresses.send_link(address)
    pass_time(HOUR)
    addresses.send_link(address)
    assert len(sent()) == 7


def test_ten_strangers_an_hour_for_a_person(alice: User, pass_time: PassTime) -> None:
    for number in range(10):
        addresses.send_link(addresses.address_of_person(alice, f"a{number}@x.org"))
    eleventh = addresses.address_of_person(alice, "a10@x.org")
    with pytest.raises(TapestryError, match="Links were sent to 10 addresses within an hour"):
        addresses.send_link(eleventh)
    pass_time(11 * MINUTE)
    addresses.send_link(Address.objects.get(email="a0@x.org"))
    with pytest.raises(TapestryError):
        addresses.send_link(eleventh)
    confirmed = addresses.address_of_person(alice, "boss@x.org")
    addresses.confirm(confirmed, is_proof=True)
    addresses.send_link(confirmed)
    pass_time(50 * MINUTE)
    addresses.send_link(eleventh)
    assert len(sent()) == 13


def test_a_mail_that_cannot_be_sent_is_said_and_not_counted(client: Client, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    page = add(client, "al@x.org")
    assert "The mail to al@x.org could not be sent." in page and "Send the link" in page
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    addresses.send_link(Address.objects.get())


def test_a_link_that_is_refused_is_said_and_not_counted(client: Client, smtp: SmtpServer) -> None:
    smtp.rcpt = "550 no such user"
    page = add(client, "al@x.org")
    assert "could not be sent. The mail server said 550 no such user" in page
    assert "Send the link" in page
    smtp.rcpt = ""
    addresses.send_link(Address.objects.get())


def test_an_address_confirmed_on_a_page_is_confirmed_anew_once_mail_is_sent(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "is_kept_only", lambda: True)
    address = addresses.address_of_person(alice, "boss@x.org")
    addresses.confirm(address, is_proof=False)
    address.refresh_from_db()
    made = Destination.objects.create(owner=alice, kind="digest", name="d", address=address)
    deliverable = Destination.objects.filter(addresses.usable())
    assert addresses.is_usable(address) and list(deliverable) == [made]
    monkeypatch.setattr(addresses, "is_kept_only", lambda: False)
    assert not addresses.is_usable(address)
    assert not Destination.objects.filter(addresses.usable()).exists()
    assert "waiting for confirmation" in text(client.get(made.get_absolute_url()))
    addresses.confirm(address, is_proof=False)
    address.refresh_from_db()
    assert addresses.is_usable(address)
    assert list(Destination.objects.filter(addresses.usable())) == [made]


def test_another_address_must_be_confirmed(client: Client, alice: User) -> None:
    add(client, "al@x.org")
    Address.objects.update(confirmed_at=1)
    made = Destination.objects.get()
    fields = {"address": "other@x.org", "which": "all", "name": "d"}
    assert "waiting for confirmation" in text(
        client.post(f"/delivery/{made.pk}/edit/", fields, follow=True)
    )
    assert [message.to for message in sent()] == [["al@x.org"], ["other@x.org"]]


def test_an_address_that_bounced_says_what_to_do(client: Client, pass_time: PassTime) -> None:
    add(client, "al@x.org")
    pass_time(HOUR)
    Address.objects.update(confirmed_at=1)
    addresses.set_problem(Address.objects.get(), "550 <no such user>")
    made = Destination.objects.get()
    page = text(client.get(made.get_absolute_url()))
    assert "address does not work" in page and "550 &lt;no such user&gt;" in page
    assert "Try again" in page
    client.post(f"/delivery/{made.pk}/link/")
    assert len(sent()) == 2 and Address.objects.get().problem, "until the link is opened"
    url = re.search(r"^http\S+/confirm/\S+$", sent()[1].body, re.MULTILINE)
    assert url is not None
    Client().post(urlsplit(url[0]).path)
    assert ">on<" in text(client.get(made.get_absolute_url()))


def test_a_destination_without_an_address_has_no_link(client: Client, hook: Destination) -> None:
    assert client.post(f"/delivery/{hook.pk}/link/")["Location"] == hook.get_absolute_url()
    assert sent() == []
