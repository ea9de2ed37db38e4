"""Mail that is kept for its reader: nobody else sees it, and it runs nothing."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.test import Client

from filters.delivery.mail.kept import keep
from filters.models import Address, KeptMail

DIGEST = (
    b"Message-ID: <d@x>\r\nSubject: 3 new\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/alternative; boundary="b"\r\n\r\n'
    b"--b\r\nContent-Type: text/plain\r\n\r\nthe text\r\n"
    b"--b\r\nContent-Type: text/html\r\n\r\n<html><head></head><body>the page"
    b"<script>bad()</script></body></html>\r\n--b--\r\n"
)

SignIn = Callable[[User], Client]


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
    Address.objects.create(owner=alice, email="al@example.org")
    assert keep(DIGEST, "AL@example.org") and keep(DIGEST, "al@example.org")
    assert not keep(DIGEST, "nobody@example.org")
    assert KeptMail.objects.count() == 1
