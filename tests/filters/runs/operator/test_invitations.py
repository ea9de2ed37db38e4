"""The staff invite people on a page: a link shown once, sent, and taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail as sent_mail
from django.test import Client

from filters.people.models import Invitation, User
from filters.runs.operator import invitations
from tapestry.core.clock import DAY, wall_clock

PAGE = "/operator/invitations/"
GIVEN = {"name": "terry", "password": "three quiet looms", "again": "three quiet looms"}


@pytest.fixture
def staff(
    as_user: Callable[[User], Client], settings: Any, monkeypatch: pytest.MonkeyPatch, db: None
) -> Client:
    """A browser of the staff of a site to which people are invited; tasks run at once."""
    settings.SIGN_UP = "invitation"

    def send(task: Any, args: Any, **_: Any) -> bool:
        task(*args)
        return True

    monkeypatch.setattr(invitations, "send", send)
    return as_user(User.objects.create_superuser("root", "root@example.org", "secret"))


def link_on(page: str) -> str:
    found = re.search(r'value="https?://[^/]+(/sign-up/[^"]+)"', page)
    assert found is not None, page
    return found[1]


def test_somebody_is_invited_and_comes(staff: Client) -> None:
    page = staff.post(PAGE, {"email": "terry@x.org"}).content.decode()
    assert "A link is on its way to terry@x.org." in page
    link = link_on(page)
    assert [mail.to for mail in sent_mail.outbox] == [["terry@x.org"]]
    assert link in sent_mail.outbox[0].body
    page = staff.get(PAGE).content.decode()
    assert "terry@x.org" in page and link not in page
    assert Client().post(link, GIVEN).headers["Location"] == "/sign-in/"
    assert User.objects.get(username="terry").email == "terry@x.org"
    assert "terry@x.org" not in staff.get(PAGE).content.decode()


def test_an_invitation_is_taken_back(staff: Client) -> None:
    link = link_on(staff.post(PAGE, {"email": "terry@x.org"}).content.decode())
    asked = Invitation.objects.create(
        email="eve@x.org", digest="d", is_asked=True, created_at=1, expires_at=wall_clock() + DAY
    )
    page = staff.get(PAGE).content.decode()
    assert "Open invitations" in page
    assert "eve@x.org" not in page, "who asked for a link was not invited"
    (key,) = re.findall(r'name="withdraw" value="([^"]+)"', page)
    page = staff.post(PAGE, {"withdraw": key}, follow=True).content.decode()
    assert "no longer works" in page and "terry@x.org" not in page
    assert Client().get(link).status_code == 404
    assert staff.post(PAGE, {"withdraw": key}).status_code == 302
    assert staff.post(PAGE, {"withdraw": "forged"}).status_code == 404
    assert list(Invitation.objects.all()) == [asked]


def test_who_is_here_is_not_invited(staff: Client, alice: User) -> None:
    answer = staff.post(PAGE, {"email": "Alice@Example.org"})
    assert answer.status_code == 400
    assert "There is an account with this address: alice." in answer.content.decode()
    assert staff.post(PAGE, {"email": "x"}).status_code == 400
    assert not Invitation.objects.exists() and sent_mail.outbox == []


def test_without_mail_the_link_is_handed_over(staff: Client, settings: Any) -> None:
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    page = staff.post(PAGE, {"email": "terry@x.org"}).content.decode()
    assert "give terry@x.org this link yourself" in page
    assert Client().get(link_on(page)).status_code == 200 and sent_mail.outbox == []


def test_where_sign_up_is_off_nobody_is_invited(staff: Client, settings: Any) -> None:
    settings.SIGN_UP = "off"
    page = staff.post(PAGE, {"email": "terry@x.org"}).content.decode()
    assert "Sign-up is off" in page and not Invitation.objects.exists()


def test_a_form_of_another_site_invites_nobody(staff: Client) -> None:
    careful = Client(enforce_csrf_checks=True)
    careful.cookies = staff.cookies
    assert careful.get(PAGE).status_code == 200
    assert careful.post(PAGE, {"email": "terry@x.org"}).status_code == 403
    assert not Invitation.objects.exists()
