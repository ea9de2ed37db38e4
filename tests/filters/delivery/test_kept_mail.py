"""Mail that is kept for its reader: nobody else sees it, and it runs nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client, override_settings

from filters.delivery.mail.addresses import send_link
from filters.delivery.mail.kept import keep
from filters.delivery.models import Address, Destination, KeptMail
from filters.people.models import User
from filters.site.work.crypto.delivery_signer import delivery_signer
from tapestry.core.delivery_header import DELIVERY_HEADER
from tests.support.processes.process_memory import forget_tries

DIGEST = (
    b"Message-ID: <d@x>\r\nSubject: 3 new\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/alternative; boundary="b"\r\n\r\n'
    b"--b\r\nContent-Type: text/plain\r\n\r\nthe text\r\n"
    b"--b\r\nContent-Type: text/html\r\n\r\n<html><head></head><body>the page"
    b"<script>bad()</script></body></html>\r\n--b--\r\n"
)

SignIn = Callable[[User], Client]


def digest_to(owner: User) -> Destination:
    address = Address.objects.create(owner=owner, email="al@example.org", confirmed_at=1)
    return Destination.objects.create(owner=owner, kind="digest", name="d", address=address)


def signed(destination: Destination, key: str = "") -> bytes:
    """The digest with the header that this site signs."""
    value = delivery_signer().value(key or f"{destination.uid.hex}-0-7")
    return f"{DELIVERY_HEADER}: {value}\r\n".encode() + DIGEST


def test_its_reader_sees_it_and_nobody_else(alice: User, bob: User, as_user: SignIn) -> None:
    assert keep(DIGEST, "al@example.org", alice)
    kept = KeptMail.objects.get()
    listed = as_user(alice).get("/mail/").content.decode()
    assert "3 new" in listed
    assert "3 new" not in as_user(bob).get("/mail/").content.decode()
    for path in (f"/mail/{kept.pk}/", f"/mail/{kept.pk}/html/"):
        assert as_user(bob).get(path).status_code == 404
        assert as_user(alice).get(path).status_code == 200


def test_its_html_is_framed_and_runs_nothing(alice: User, as_user: SignIn) -> None:
    keep(DIGEST, "al@example.org", alice)
    response = as_user(alice).get(f"/mail/{KeptMail.objects.get().pk}/html/")
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy and "allow-scripts" not in policy
    assert response["X-Frame-Options"] == "SAMEORIGIN"


def test_a_mail_that_is_repeated_is_kept_once(alice: User) -> None:
    raw = signed(digest_to(alice))
    assert keep(raw, "AL@example.org") and keep(raw, "al@example.org")
    assert not keep(raw, "nobody@example.org")
    assert KeptMail.objects.count() == 1


@pytest.mark.parametrize("confirmed_at", [None, 1])
def test_another_person_who_gave_the_same_address_gets_nothing(
    alice: User, bob: User, confirmed_at: int | None
) -> None:
    destination = digest_to(alice)
    Address.objects.create(owner=bob, email="al@example.org", confirmed_at=confirmed_at)
    assert keep(signed(destination), "al@example.org")
    assert KeptMail.objects.get().owner == alice


def test_a_sample_is_its_owner_s(alice: User) -> None:
    destination = digest_to(alice)
    raw = signed(destination, "sample-ab-7")
    assert not keep(raw, "al@example.org"), "no such sample is stored"
    destination.deliveries.create(key="sample-ab", at=1, state="retry")
    assert keep(raw, "al@example.org")
    assert KeptMail.objects.get().owner == alice


def test_a_confirmation_mail_is_its_owner_s(alice: User, bob: User, as_user: SignIn) -> None:
    backend = "filters.delivery.mail.kept.KeptMailBackend"
    with override_settings(EMAIL_BACKEND=backend):
        for owner in (alice, bob):
            forget_tries()
            send_link(Address.objects.create(owner=owner, email="al@example.org"))
    assert [kept.owner for kept in KeptMail.objects.order_by("pk")] == [alice, bob]
    assert all(b"confirm" in bytes(kept.raw) for kept in KeptMail.objects.all())
    page = as_user(alice).get(f"/mail/{KeptMail.objects.earliest('pk').pk}/").content.decode()
    assert re.search(r'<a href="http[^"]*confirm[^"]*"', page), "its link can be followed"


def test_mail_that_this_site_did_not_sign_is_nobody_s(alice: User) -> None:
    destination = digest_to(alice)
    key = f"{destination.uid.hex}-0-7"
    forged = f"{DELIVERY_HEADER}: {key}; mac={'0' * 32}\r\n".encode() + DIGEST
    unknown = signed(destination, "address-x"), signed(destination, "address-0-ab")
    for raw in (DIGEST, forged, *unknown):
        assert not keep(raw, "al@example.org")
    assert not KeptMail.objects.exists()
