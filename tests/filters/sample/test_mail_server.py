"""The demo's own mail server: what the site sends there is on a page of its reader."""

from __future__ import annotations

import smtplib
from urllib.parse import urlsplit

import pytest

from filters.delivery.models import Address, Destination, KeptMail, Subscription
from filters.people.models import User
from filters.sample.mail_server import running_mail_server
from filters.sample.people import DIGESTED, order_digest, settle
from filters.site.work.crypto.delivery_signer import delivery_signer
from tapestry.core.delivery_header import DELIVERY_HEADER

LETTER = b"Message-ID: <d@x>\r\nSubject: 3 new\r\n\r\nHello\r\n"


def connected(url: str) -> smtplib.SMTP:
    place = urlsplit(url)
    return smtplib.SMTP(place.hostname or "", place.port or 0)


def sign_in(to: smtplib.SMTP, url: str, password: str = "") -> None:
    place = urlsplit(url)
    to.login(place.username or "", password or place.password or "")


def test_a_stranger_sends_nothing_through_it() -> None:
    with running_mail_server() as url, connected(url) as to:
        with pytest.raises(smtplib.SMTPAuthenticationError):
            sign_in(to, url, "guess")
        with pytest.raises(smtplib.SMTPSenderRefused) as refused:
            to.sendmail("site@x.org", ["al@example.org"], LETTER)
    assert refused.value.smtp_code == 530


def test_a_sign_in_writes_nothing_into_the_terminal(caplog: pytest.LogCaptureFixture) -> None:
    with running_mail_server() as url, connected(url) as to:
        sign_in(to, url)
    assert not [record for record in caplog.records if record.name == "mail.log"]


@pytest.mark.django_db(transaction=True)
def test_it_keeps_mail_for_the_people_it_knows(alice: User) -> None:
    address = Address.objects.create(owner=alice, email="al@example.org", confirmed_at=1)
    to_alice = Destination.objects.create(owner=alice, kind="digest", name="d", address=address)
    value = delivery_signer().value(f"{to_alice.uid.hex}-0-7")
    letter = f"{DELIVERY_HEADER}: {value}\r\n".encode() + LETTER
    with running_mail_server() as url, connected(url) as to:
        sign_in(to, url)
        to.sendmail("site@x.org", ["al@example.org"], letter)
        for email, unknown in (("nobody@example.org", letter), ("al@example.org", LETTER)):
            with pytest.raises(smtplib.SMTPDataError, match="Nobody here"):
                to.sendmail("site@x.org", [email], unknown)
        to.sendmail("al@example.org", ["Mary.Jones@loom.example"], LETTER)  # of the sample
    kept = KeptMail.objects.get()
    assert (kept.owner, kept.subject, bytes(kept.raw)) == (alice, "3 new", letter)


def test_a_digest_is_ordered_once(tmp_path: object, db: None, data: object) -> None:
    settle(tmp_path / "sample" / "people.json")
    terry = User.objects.get(username="terry")
    for name in DIGESTED:
        terry.filters.create(name=name, text=name)
    order_digest()
    assert Subscription.objects.count() == len(DIGESTED)
    Destination.objects.all().delete()
    order_digest()
    assert not Destination.objects.exists()
